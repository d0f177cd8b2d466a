// SPDX-License-Identifier: Apache-2.0
/// compat_host ROOT ID: loads a router with core's own loader, asks it once and prints what came of
/// it, or why the plugin is refused. Built against this minor's headers and against the next's.
#include <cstdio>

#include "core/plugin/registry.hpp"
#include "prism/abi/router.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    return 2;
  }
  prism::plugin::Registry registry({.overrides = {}, .roots = {argv[1]}});
  const auto loaded = registry.load(argv[2]);
  if (!loaded.ok()) {
    std::printf("refused: %s\n", loaded.status().to_string().c_str());
    return 3;
  }
  const auto* router = static_cast<const prism_router_t*>((*loaded)->interface(PRISM_ROUTER_1));
  prism_router_session_t* session = nullptr;
  prism_routing_request_t request{};
  request.struct_size = sizeof request;
  request.tokens = 64;
  request.experts = 2;
  request.top_k = 1;
#ifdef PRISM_NEXT_MINOR
  request.phase = 7;
#endif
  uint64_t counts[2] = {1, 1};
  if (router->open(nullptr, 0, &session, nullptr) != PRISM_STATUS_OK ||
      router->counts(session, &request, counts, nullptr) != PRISM_STATUS_OK) {
    return 1;
  }
  uint64_t later = 0;
#ifdef PRISM_NEXT_MINOR
  if (PRISM_HAS(router, prism_router_t, later)) {
    later = router->later(session);
  }
#endif
  router->close(session);
  std::printf("answer %llu, phase %llu, later %llu\n", static_cast<unsigned long long>(counts[0]),
              static_cast<unsigned long long>(counts[1]), static_cast<unsigned long long>(later));
  return 0;
}
