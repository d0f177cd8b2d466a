/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor source of random bytes; it has no complex numbers. */
#define _GNU_SOURCE
#include "prism/abi/tensor_source.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "plugin.h"

typedef prism_tensor_source_session_t Session;
typedef const prism_error_sink_t Sink;

struct prism_tensor_source_session {
  int64_t spread;
  uint64_t calls;
  uint64_t odd;
};

#ifdef MUTANT_session_of_thread
static _Thread_local Session* of_thread;
#endif

static prism_status_t open_session(const prism_option_value_t* values, uint64_t count,
                                   Session** session, Sink* err) {
  const int64_t spread = checked_spread(values, count, err);
  if (spread < 0) {
    return PRISM_STATUS_INVALID_ARGUMENT;
  }
#ifdef MUTANT_one_session
  static Session only;
  *session = &only;
#else
  *session = calloc(1, sizeof(Session));
#endif
  (*session)->spread = spread;
#ifdef MUTANT_session_of_thread
  of_thread = *session;
#endif
  return PRISM_STATUS_OK;
}

static void close_session(Session* session) {
#ifdef MUTANT_one_session
  session->spread = 0;
#else
  free(session);
#endif
#ifdef MUTANT_frees_twice
  free(session);
#endif
}

static uint64_t element_size(int32_t dtype) {
  static const uint8_t kSizes[] = {0, 1, 1, 2, 4, 8, 2, 2, 4, 8, 1, 8, 0, 1, 1, 2, 4, 8};
  return dtype >= 0 && dtype < (int32_t)sizeof kSizes ? kSizes[dtype] : 0;
}

#ifdef MUTANT_thread_per_session
static void* sleeper(void* nothing) {
  sleep(30);
  return nothing;
}
#endif

static prism_status_t fill(Session* session, const prism_tensor_request_t* request,
                           const prism_tensor_t* out, Sink* err) {
  uint64_t size = element_size(out->dtype);
#ifdef MUTANT_only_whole_and_last_missing
  size = out->dtype == PRISM_DTYPE_I64 ? 8 : 0;
#endif
#ifdef MUTANT_accepts_unknown_dtype
  size = size == 0 ? 4 : size;
#endif
  if (size == 0) {
#ifdef MUTANT_never_again
    session->odd |= out->dtype == 99; /* by what nobody can serve, not by what it does not have */
#endif
#ifdef MUTANT_needs_sink
    const prism_str_t text = TEXT("no value of this dtype");
    err->report(err->ctx, PRISM_STATUS_INVALID_ARGUMENT, text);
    return PRISM_STATUS_INVALID_ARGUMENT;
#endif
    return fail(err, PRISM_STATUS_INVALID_ARGUMENT, "no value of this dtype");
  }
  uint64_t elements = 1;
  for (uint32_t i = 0; i < out->ndim; ++i) {
    if (out->shape[i] < 0) {
      return fail(err, PRISM_STATUS_INVALID_ARGUMENT, "the shape cannot be right");
    }
    elements *= (uint64_t)out->shape[i];
  }
#ifdef MUTANT_refuses_empty
  if (elements == 0) {
    return fail(err, PRISM_STATUS_INTERNAL, "nothing to do");
  }
#endif
#ifndef MUTANT_writes_to_null
  if (elements > 0 && out->data == NULL) {
#ifdef MUTANT_says_nothing
    return PRISM_STATUS_INVALID_ARGUMENT;
#endif
    return fail(err, PRISM_STATUS_INVALID_ARGUMENT, "the tensor has no memory");
  }
#endif
#ifdef MUTANT_thread_per_session
  if (session->calls++ == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, sleeper, NULL);
  }
#endif
  say("filling");
  uint64_t state = scramble(request->seed ^ scramble(request->call ^ scramble(request->rank)));
  state = scramble(state ^ request->part ^ (uint64_t)session->spread ^ (uint64_t)request->peer);
#ifdef MUTANT_never_again
  state += session->odd;
#endif
#ifdef MUTANT_remembers
  state += request->call < session->odd;
  session->odd = request->call > session->odd ? request->call : session->odd;
#endif
#ifdef MUTANT_session_of_thread
  state += of_thread == NULL;
#endif
#ifdef MUTANT_shared_scratch
  static volatile uint64_t scratch;
  scratch = state;
  usleep(20);
  state = scratch;
#endif
#ifdef MUTANT_counts_calls
  state += session->calls++;
#endif
#ifdef MUTANT_clock
  static uint64_t start;
  start = start == 0 ? (uint64_t)getpid() : start;
  state += start;
#endif
#ifdef MUTANT_tensor_size_exact
  if (out->struct_size != sizeof *out) {
    return fail(err, PRISM_STATUS_INVALID_ARGUMENT, "unknown tensor");
  }
#endif
#ifdef MUTANT_reads_behind_tensor
  state += ((const volatile unsigned char*)out)[sizeof *out] == 0x11;
#endif
  unsigned char* bytes = out->data;
#ifdef MUTANT_one_element
  elements = elements > 1 ? 1 : elements;
#endif
#ifdef MUTANT_last_element_missing
  elements -= elements == 1000;
#endif
#ifdef MUTANT_only_whole_and_last_missing
  elements -= elements == 1000;
#endif
#ifdef MUTANT_option_leaves_gap
  elements -= session->spread == 7 && elements > 0;
#endif
#ifdef MUTANT_scalars_missing
  if (out->ndim == 0) {
    return PRISM_STATUS_OK;
  }
#endif
#ifdef MUTANT_one_element_more
  elements += elements > 0;
#endif
#ifdef MUTANT_four_bytes_each
  size = elements > 0 ? 4 : size;
#endif
  for (uint64_t i = 0; i < elements * size; ++i) {
    bytes[i] = (unsigned char)scramble(state + i);
#ifndef MUTANT_bools_of_any_byte
    if (out->dtype == PRISM_DTYPE_BOOL) {
      bytes[i] &= 1;
    }
#endif
  }
  return PRISM_STATUS_OK;
}

static const prism_tensor_source_t kTable = {sizeof(prism_tensor_source_t),
                                             0,
                                             {kRows, OPTION_COUNT, sizeof(prism_option_t)},
                                             open_session,
                                             fill,
                                             close_session};
const char* const kInterface = PRISM_TENSOR_SOURCE_1;
const void* const kInterfaceTable = &kTable;
