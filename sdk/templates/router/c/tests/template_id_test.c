/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prism/abi/plugin.h"
#include "prism/abi/router.h"

const prism_plugin_t* prism_plugin_v1(void);

static int failures = 0;

static void expect(int holds, const char* what) {
  if (!holds) {
    printf("FAILED: %s\n", what);
    ++failures;
  }
}

/* What the plugin reported last. */
static char message[256];

static void keep_message(void* ctx, prism_status_t code, prism_str_t text) {
  (void)ctx;
  (void)code;
  snprintf(message, sizeof message, "%.*s", (int)text.len, text.ptr);
}

static const prism_error_sink_t kErrors = {sizeof kErrors, 0, NULL, keep_message};

static prism_router_session_t* open_with(const prism_router_t* router, int64_t hot_experts) {
  prism_option_value_t value = {.type = PRISM_OPTION_INT, .set = 1};
  prism_router_session_t* session = NULL;
  value.u.integer = hot_experts;
  if (router->open(&value, 1, &session, &kErrors) != PRISM_STATUS_OK) {
    printf("FAILED: open() with the one option of this test: %s\n", message);
    exit(1); /* nothing can be asked without a session */
  }
  return session;
}

int main(void) {
  const prism_str_t id = {PRISM_ROUTER_1, sizeof(PRISM_ROUTER_1) - 1};
  const prism_router_t* router = prism_plugin_v1()->get_interface(id);
  prism_routing_request_t request = {
      .struct_size = sizeof request, .tokens = 10, .experts = 4, .top_k = 2};
  const uint64_t one_hot[4] = {10, 4, 3, 3};
  const uint64_t all_even[4] = {5, 5, 5, 5};
  uint64_t counts[4];

  prism_router_session_t* session = open_with(router, 1);
  expect(router->counts(session, &request, counts, &kErrors) == PRISM_STATUS_OK, "counts");
  expect(memcmp(counts, one_hot, sizeof counts) == 0,
         "the first expert gets all tokens, the others share the rest");

  request.top_k = 5;
  expect(router->counts(session, &request, counts, &kErrors) == PRISM_STATUS_INVALID_ARGUMENT &&
             strstr(message, "top_k must be between 1") != NULL,
         "more choices than experts are refused");
  router->close(session);

  request.top_k = 2;
  session = open_with(router, 0);
  expect(router->counts(session, &request, counts, &kErrors) == PRISM_STATUS_OK, "counts");
  expect(memcmp(counts, all_even, sizeof counts) == 0, "no hot expert: even");
  router->close(session);
  return failures == 0 ? 0 : 1;
}
