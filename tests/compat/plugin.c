/* SPDX-License-Identifier: Apache-2.0 */
/* A router of this minor version or, compiled against the headers of the next one, of that. It says
 * in its counts what it met: expert 0 the host's answer, expert 1 the request's phase. */
#include "prism/abi/plugin.h"

#include <string.h>

#include "prism/abi/router.h"

static const prism_host_t* host;

static prism_status_t open_session(const prism_option_value_t* values, uint64_t count,
                                   prism_router_session_t** session,
                                   const prism_error_sink_t* err) {
  (void)values;
  (void)count;
  (void)err;
  static int one;
  *session = (prism_router_session_t*)&one;
  return PRISM_STATUS_OK;
}

static prism_status_t counts(prism_router_session_t* session,
                             const prism_routing_request_t* request, uint64_t* out,
                             const prism_error_sink_t* err) {
  (void)session;
  (void)err;
  memset(out, 0, request->experts * sizeof *out);
#ifdef PRISM_NEXT_MINOR
  if (PRISM_HAS(host, prism_host_t, answer)) {
    out[0] = host->answer(host->ctx);
  }
  if (PRISM_HAS(request, prism_routing_request_t, phase)) {
    out[1] = request->phase;
  }
#endif
  return PRISM_STATUS_OK;
}

static void close_session(prism_router_session_t* session) {
  (void)session;
}

#ifdef PRISM_NEXT_MINOR
static uint64_t later(prism_router_session_t* session) {
  (void)session;
  return 9;
}
#endif

static const prism_router_t router = {
    .struct_size = sizeof(prism_router_t),
    .open = open_session,
    .counts = counts,
    .close = close_session,
#ifdef PRISM_NEXT_MINOR
    .later = later,
#endif
};

static prism_status_t init(const prism_host_t* given, const prism_error_sink_t* err) {
  (void)err;
  host = given;
  return PRISM_STATUS_OK;
}

static const void* get_interface(prism_str_t id) {
  return id.len == strlen(PRISM_ROUTER_1) && memcmp(id.ptr, PRISM_ROUTER_1, id.len) == 0 ? &router
                                                                                         : NULL;
}

__attribute__((visibility("default"))) const prism_plugin_t* prism_plugin_v1(void);

const prism_plugin_t* prism_plugin_v1(void) {
  static const prism_plugin_t table = {
      .struct_size = sizeof(prism_plugin_t),
      .abi_major = PRISM_ABI_MAJOR,
      .abi_minor = PRISM_ABI_MINOR,
      .id = {PRISM_PLUGIN_ID, sizeof(PRISM_PLUGIN_ID) - 1},
      .version = {"0.1.0", 5},
      .init = init,
      .get_interface = get_interface,
  };
  return &table;
}
