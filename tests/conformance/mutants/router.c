/* SPDX-License-Identifier: Apache-2.0 */
/* A router that deals experts out in turn, from a place that depends on the request. */
#define _GNU_SOURCE
#include "prism/abi/router.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "plugin.h"

typedef const prism_routing_request_t Request;
typedef prism_router_session_t Session;
typedef const prism_error_sink_t Sink;

struct prism_router_session {
  int64_t spread;
  int calls;
  int odd;
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
#ifdef MUTANT_no_session
  return PRISM_STATUS_OK;
#endif
#ifdef MUTANT_few_sessions
  static int opened;
  if (++opened > 50) {
    abort();
  }
#endif
#ifdef MUTANT_one_session
  static Session only;
  *session = &only;
#else
  *session = calloc(1, sizeof(Session));
#endif
#ifdef MUTANT_leaks_files
  if (open("/dev/null", O_RDONLY) < 0) {
    abort();
  }
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
}

static prism_status_t check(Session* session, Request* r, Sink* err) {
#ifdef MUTANT_accepts_top_k_0
  const uint32_t least = 0;
#else
  const uint32_t least = 1;
#endif
  if (r->experts == 0 || r->top_k > r->experts || r->top_k < least ||
      r->tokens > INT64_MAX / r->experts) {
#ifdef MUTANT_never_again
    session->odd = 1;
#endif
#ifdef MUTANT_says_nothing
    return PRISM_STATUS_INVALID_ARGUMENT;
#elif defined(MUTANT_says_twice)
    fail(err, PRISM_STATUS_INVALID_ARGUMENT, "this cannot be routed");
    return fail(err, PRISM_STATUS_INVALID_ARGUMENT, "really not");
#elif defined(MUTANT_says_other_code)
    fail(err, PRISM_STATUS_INTERNAL, "this cannot be routed");
    return PRISM_STATUS_INVALID_ARGUMENT;
#elif defined(MUTANT_says_no_utf8)
    return fail(err, PRISM_STATUS_INVALID_ARGUMENT, "caf\xe9");
#elif defined(MUTANT_unknown_code)
    return fail(err, 4711, "this cannot be routed");
#elif defined(MUTANT_needs_sink)
    const prism_str_t text = TEXT("this cannot be routed");
    err->report(err->ctx, PRISM_STATUS_INVALID_ARGUMENT, text);
    return PRISM_STATUS_INVALID_ARGUMENT;
#else
    return fail(err, PRISM_STATUS_INVALID_ARGUMENT, "this cannot be routed");
#endif
  }
#ifdef MUTANT_request_size_exact
  if (r->struct_size != sizeof *r) {
    return fail(err, PRISM_STATUS_INVALID_ARGUMENT, "unknown request");
  }
#endif
#ifdef MUTANT_reads_behind_request
  if (((const volatile char*)r)[sizeof *r] == 0x11) {
    abort();
  }
#endif
#ifdef MUTANT_wrong_code_of_refusal
  if (r->experts == 64) {
    return fail(err, PRISM_STATUS_INTERNAL, "I have no 64 experts");
  }
#endif
  (void)session;
  return PRISM_STATUS_OK;
}

/* The expert of the first slot. */
static uint64_t first_expert(Session* session, Request* r) {
  uint64_t place =
      scramble(r->seed ^ scramble(r->layer ^ scramble(r->micro_batch ^ scramble(r->rank))));
#ifdef MUTANT_counts_calls
  place += (uint64_t)session->calls++;
#endif
#ifdef MUTANT_remembers
  place += (uint64_t)session->odd;
  session->odd += r->experts == 1;
#endif
#ifdef MUTANT_never_again
  place += (uint64_t)session->odd;
#endif
#ifdef MUTANT_process_id
  place += (uint64_t)getpid();
#endif
#ifdef MUTANT_address
  place += (uint64_t)(uintptr_t)&first_expert >> 12;
#endif
#ifdef MUTANT_session_of_thread
  place += of_thread == NULL;
#endif
#ifdef MUTANT_shared_scratch
  static volatile uint64_t scratch;
  scratch = place;
  usleep(20);
  place = scratch;
#endif
  return (place + (uint64_t)session->spread) % r->experts;
}

static prism_status_t counts(Session* session, Request* r, uint64_t* out, Sink* err) {
  const prism_status_t status = check(session, r, err);
  if (status != PRISM_STATUS_OK) {
    return status;
  }
  say("counting");
#ifdef MUTANT_forks_and_goes_on
  fork();
#endif
  const uint64_t first = first_expert(session, r);
  const uint64_t total = r->tokens * r->top_k;
  for (uint64_t e = 0; e < r->experts; ++e) {
    const uint64_t place = (e + r->experts - first) % r->experts;
    out[e] = total / r->experts + (place < total % r->experts);
#ifdef MUTANT_counts_in_16_bits
    out[e] = (uint16_t)out[e];
#endif
  }
#ifdef MUTANT_sum_too_small
  if (r->experts > 1 && r->top_k < r->experts && r->tokens > 0) {
    out[first] -= 1;
  }
#endif
#ifdef MUTANT_above_tokens
  if (r->experts > 1 && r->top_k < r->experts && r->tokens > 0) {
    memset(out, 0, r->experts * sizeof *out);
    out[0] = total;
  }
#endif
#ifdef MUTANT_tokens_from_nothing
  if (r->tokens == 0) {
    out[0] = r->top_k;
  }
#endif
#ifdef MUTANT_lone_expert_idle
  if (r->experts == 1) {
    out[0] = 0;
  }
#endif
#ifdef MUTANT_all_experts_uneven
  if (r->experts > 1 && r->top_k == r->experts && r->tokens > 0) {
    out[0] += 1;
    out[1] -= 1;
  }
#endif
#ifdef MUTANT_late_micro_batch
  out[first] -= r->micro_batch >= 100 && r->top_k < r->experts && r->tokens > 0;
#endif
#ifdef MUTANT_option_spoils_sum
  out[first] -= session->spread == 7 && out[first] > 0;
#endif
#ifdef MUTANT_writes_behind
  out[r->experts] = 0;
#endif
#ifdef MUTANT_writes_before
  out[-1] = 0;
#endif
  return PRISM_STATUS_OK;
}

static prism_status_t assign(Session* session, Request* r, uint32_t* out, Sink* err) {
  const prism_status_t status = check(session, r, err);
  if (status != PRISM_STATUS_OK) {
    return status;
  }
  const uint64_t first = first_expert(session, r);
  for (uint64_t slot = 0; slot < r->tokens * r->top_k; ++slot) {
    out[slot] = (uint32_t)((first + slot) % r->experts);
#ifdef MUTANT_same_expert_twice
    out[slot] = (uint32_t)((first + slot / 2) % r->experts);
#endif
#ifdef MUTANT_other_than_counts
    out[slot] = (uint32_t)((first + slot % r->top_k) % r->experts);
#endif
#ifdef MUTANT_option_spoils_assignment
    if (session->spread > 8) {
      out[slot] = (uint32_t)((first + slot / 2) % r->experts);
    }
#endif
#ifdef MUTANT_expert_beyond
    out[slot] += 1;
#endif
  }
  return PRISM_STATUS_OK;
}

static uint16_t bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)(bits >> 16);
}

static prism_status_t logits(Session* session, Request* r, const prism_tensor_t* out, Sink* err) {
  const prism_status_t status = check(session, r, err);
  if (status != PRISM_STATUS_OK) {
    return status;
  }
#ifdef MUTANT_no_bf16
  if (out->dtype != PRISM_DTYPE_F32) {
    return fail(err, PRISM_STATUS_UNIMPLEMENTED, "only f32");
  }
#endif
  const uint64_t first = first_expert(session, r);
  for (uint64_t t = 0; t < r->tokens; ++t) {
    for (uint64_t e = 0; e < r->experts; ++e) {
      const uint64_t place = (e + r->experts - (first + t * r->top_k) % r->experts) % r->experts;
      float value = -(float)place;
#ifdef MUTANT_ties
      value = place < r->top_k ? value : -100;
#endif
#ifdef MUTANT_ties_in_bf16
      value = 1000.0F - (float)place / 100.0F;
#endif
#ifdef MUTANT_reversed
      value = place < r->top_k ? (float)place : value;
#endif
#ifdef MUTANT_lowest_wins
      value = (float)place;
#endif
#ifdef MUTANT_infinite
      value = place == 0 ? 1.0F / 0.0F : value;
#endif
      const uint64_t at = t * r->experts + e;
      if (out->dtype == PRISM_DTYPE_F32) {
        ((float*)out->data)[at] = value;
      } else {
        ((uint16_t*)out->data)[at] = bf16(value);
      }
    }
  }
  return PRISM_STATUS_OK;
}

static const prism_router_t kTable = {sizeof(prism_router_t),
                                      0,
                                      {kRows, OPTION_COUNT, sizeof(prism_option_t)},
                                      open_session,
#ifdef MUTANT_half_interface
                                      NULL,
#else
                                      counts,
#endif
#ifdef MUTANT_only_counts
                                      NULL,
                                      NULL,
#else
                                      assign,
                                      logits,
#endif
                                      close_session};
const char* const kInterface = PRISM_ROUTER_1;
const void* const kInterfaceTable = &kTable;
