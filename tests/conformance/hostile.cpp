// SPDX-License-Identifier: Apache-2.0
// A router that does, in the callback that PRISM_HOSTILE names, what it names behind the colon:
// "counts:hang".
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include "prism/abi/plugin.h"
#include "prism/abi/router.h"

namespace {

void misbehave(const std::string& callback) {
  const char* wanted = std::getenv("PRISM_HOSTILE");
  const std::string plan = wanted == nullptr ? "" : wanted;
  if (plan == callback + ":crash") {
    std::abort();
  } else if (plan == callback + ":segfault") {
    *static_cast<volatile int*>(nullptr) = 1;
  } else if (plan == callback + ":hang") {
    sleep(1000);
  } else if (plan == callback + ":spin") {
    volatile unsigned n = 0;
    while (true) {
      n = n + 1;
    }
  } else if (plan == callback + ":print") {
    std::printf("hello from %s\n", callback.c_str());
  } else if (plan == callback + ":print_without_end") {
    while (true) {
      std::puts("hello hello hello hello hello hello hello hello hello hello hello hello hello");
    }
  } else if (plan == callback + ":fork") {
    if (fork() == 0) {
      setsid();
      sleep(1000);
      _exit(0);
    }
  } else if (plan == callback + ":allocate") {
    while (true) {
      // Touched, or the machine would not notice; what fails becomes a crash at address 0.
      std::memset(std::malloc(size_t{64} << 20), 1, size_t{64} << 20);
    }
  } else if (plan == callback + ":throw") {
    throw std::runtime_error("thrown by " + callback);
  } else if (plan == callback + ":exit") {
    std::exit(0);
  } else if (plan == callback + ":quick_exit") {
    _exit(0);
  }
}

int g_session;

prism_status_t open(const prism_option_value_t*, uint64_t, prism_router_session_t** session,
                    const prism_error_sink_t*) {
  misbehave("open");
  *session = reinterpret_cast<prism_router_session_t*>(&g_session);
  return PRISM_STATUS_OK;
}

prism_status_t counts(prism_router_session_t*, const prism_routing_request_t* request,
                      uint64_t* counts, const prism_error_sink_t*) {
  misbehave("counts");
  for (uint64_t e = 0; e < request->experts; ++e) {
    counts[e] = e < request->top_k ? request->tokens : 0;
  }
  return PRISM_STATUS_OK;
}

prism_status_t assign(prism_router_session_t*, const prism_routing_request_t* request,
                      uint32_t* experts, const prism_error_sink_t*) {
  misbehave("assign");
  for (uint64_t slot = 0; slot < request->tokens * request->top_k; ++slot) {
    experts[slot] = static_cast<uint32_t>(slot % request->top_k);
  }
  return PRISM_STATUS_OK;
}

void close(prism_router_session_t*) {
  misbehave("close");
}

prism_status_t init(const prism_host_t*, const prism_error_sink_t*) {
  misbehave("init");
  return PRISM_STATUS_OK;
}

void deinit() {
  misbehave("deinit");
}

// The ABI's pointers are noexcept; this plugin lies about that.
const prism_router_t kRouter = {sizeof(prism_router_t),
                                0,
                                {nullptr, 0, 0},
                                reinterpret_cast<decltype(prism_router_t::open)>(&open),
                                reinterpret_cast<decltype(prism_router_t::counts)>(&counts),
                                reinterpret_cast<decltype(prism_router_t::assign)>(&assign),
                                nullptr,
                                reinterpret_cast<decltype(prism_router_t::close)>(&close)};

const void* get_interface(prism_str_t id) {
  misbehave("get_interface");
  return std::string(id.ptr, id.len) == PRISM_ROUTER_1 ? &kRouter : nullptr;
}

const prism_plugin_t kPlugin = {
    sizeof(prism_plugin_t),
    0,
    PRISM_ABI_MAJOR,
    PRISM_ABI_MINOR,
    0,
    {PRISM_PLUGIN_ID, sizeof(PRISM_PLUGIN_ID) - 1},
    {PRISM_PLUGIN_VERSION, sizeof(PRISM_PLUGIN_VERSION) - 1},
    reinterpret_cast<decltype(prism_plugin_t::init)>(&init),
    reinterpret_cast<decltype(prism_plugin_t::deinit)>(&deinit),
    reinterpret_cast<decltype(prism_plugin_t::get_interface)>(&get_interface)};

[[gnu::constructor]] void on_load() {
  misbehave("load");
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const prism_plugin_t* prism_plugin_v1() {
  misbehave("prism_plugin_v1");
  return &kPlugin;
}
