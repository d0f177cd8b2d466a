/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin in plain C, with an interface of its own. */
#include <string.h>

#include "prism/abi/plugin.h"

static const prism_host_t* host;

static prism_str_t text(const char* s) {
  prism_str_t result = {s, strlen(s)};
  return result;
}

static void say(const char* s) {
  if (host != NULL && host->log_enabled(host->ctx, PRISM_LOG_INFO)) {
    host->log(host->ctx, PRISM_LOG_INFO, text(s));
  }
}

static prism_status_t init(const prism_host_t* given, const prism_error_sink_t* err) {
  (void)err;
  host = given;
  say("init");
  return PRISM_STATUS_OK;
}

static void deinit(void) {
  say("deinit");
  host = NULL;
}

static const int answer = 42;

static const void* get_interface(prism_str_t id) {
  prism_str_t mine = text("com.example.answer/1");
  return id.len == mine.len && memcmp(id.ptr, mine.ptr, mine.len) == 0 ? &answer : NULL;
}

__attribute__((visibility("default"))) const prism_plugin_t* prism_plugin_v1(void);

const prism_plugin_t* prism_plugin_v1(void) {
  static const prism_plugin_t table = {sizeof(prism_plugin_t),
                                       0,
                                       PRISM_ABI_MAJOR,
                                       PRISM_ABI_MINOR,
                                       0,
                                       {PRISM_PLUGIN_ID, sizeof(PRISM_PLUGIN_ID) - 1},
                                       {PRISM_PLUGIN_VERSION, sizeof(PRISM_PLUGIN_VERSION) - 1},
                                       init,
                                       deinit,
                                       get_interface};
  return &table;
}
