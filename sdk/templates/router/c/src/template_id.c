/* SPDX-License-Identifier: Apache-2.0 */
/* The first `hot_experts` experts get every token; what is left to choose is spread evenly over the
 * others. The contract of a router is in prism/abi/router.h. */
#include <stdlib.h>
#include <string.h>

#include "prism/abi/plugin.h"
#include "prism/abi/router.h"

#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

struct prism_router_session {
  uint64_t hot_experts;
};

enum { HOT_EXPERTS, OPTION_COUNT };

static const prism_option_t kOptions[OPTION_COUNT] = {
    {.name = TEXT("hot_experts"),
     .type = PRISM_OPTION_INT,
     .default_text = TEXT("1"),
     .min = 0,
     .max = 1024,
     .doc = TEXT("How many experts get every token.")},
};

static prism_status_t fail(const prism_error_sink_t* err, prism_status_t code, const char* text) {
  if (err != NULL && err->report != NULL) {
    const prism_str_t message = {text, strlen(text)};
    err->report(err->ctx, code, message);
  }
  return code;
}

static prism_status_t open_session(const prism_option_value_t* values, uint64_t value_count,
                                   prism_router_session_t** session,
                                   const prism_error_sink_t* err) {
  if (value_count != OPTION_COUNT || values == NULL) {
    return fail(err, PRISM_STATUS_INVALID_ARGUMENT, "the values do not fit the table of options");
  }
  if (values[HOT_EXPERTS].set == 0 || values[HOT_EXPERTS].type != PRISM_OPTION_INT ||
      values[HOT_EXPERTS].u.integer < 0) {
    return fail(err, PRISM_STATUS_INVALID_ARGUMENT,
                "hot_experts must be a whole number, 0 or more");
  }
  *session = malloc(sizeof **session);
  if (*session == NULL) {
    return fail(err, PRISM_STATUS_RESOURCE_EXHAUSTED, "out of memory");
  }
  (*session)->hot_experts = (uint64_t)values[HOT_EXPERTS].u.integer;
  return PRISM_STATUS_OK;
}

static prism_status_t write_counts(prism_router_session_t* session,
                                   const prism_routing_request_t* request, uint64_t* counts,
                                   const prism_error_sink_t* err) {
  if (request == NULL || !PRISM_HAS(request, prism_routing_request_t, rank)) {
    return fail(err, PRISM_STATUS_INVALID_ARGUMENT, "the host gave no routing request");
  }
  if (request->experts == 0 || request->top_k == 0 || request->top_k > request->experts) {
    return fail(err, PRISM_STATUS_INVALID_ARGUMENT,
                "top_k must be between 1 and the number of experts");
  }
  if (request->tokens > (uint64_t)INT64_MAX / request->experts) {
    return fail(err, PRISM_STATUS_INVALID_ARGUMENT, "more tokens than can be counted");
  }
  /* A token goes to top_k different experts, so that at most top_k of them can get all tokens. */
  const uint64_t hot =
      session->hot_experts < request->top_k ? session->hot_experts : request->top_k;
  const uint64_t others = request->experts - hot;
  const uint64_t left = request->tokens * (request->top_k - hot);
  for (uint64_t expert = 0; expert < request->experts; ++expert) {
    if (expert < hot) {
      counts[expert] = request->tokens;
    } else {
      counts[expert] = left / others + (expert - hot < left % others ? 1 : 0);
    }
  }
  return PRISM_STATUS_OK;
}

static void close_session(prism_router_session_t* session) {
  free(session);
}

static const prism_router_t kRouter = {
    .struct_size = sizeof(prism_router_t),
    .options = {kOptions, OPTION_COUNT, sizeof(prism_option_t)},
    .open = open_session,
    .counts = write_counts,
    .close = close_session,
};

static const void* get_interface(prism_str_t id) {
  const prism_str_t router = TEXT(PRISM_ROUTER_1);
  return id.len == router.len && memcmp(id.ptr, router.ptr, router.len) == 0 ? &kRouter : NULL;
}

__attribute__((visibility("default"))) const prism_plugin_t* prism_plugin_v1(void);

const prism_plugin_t* prism_plugin_v1(void) {
  static const prism_plugin_t plugin = {
      .struct_size = sizeof(prism_plugin_t),
      .abi_major = PRISM_ABI_MAJOR,
      .abi_minor = PRISM_ABI_MINOR,
      .id = TEXT(PRISM_PLUGIN_ID),
      .version = TEXT(PRISM_PLUGIN_VERSION),
      .get_interface = get_interface,
  };
  return &plugin;
}
