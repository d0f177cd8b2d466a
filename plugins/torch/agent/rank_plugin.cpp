// SPDX-License-Identifier: Apache-2.0
#include "plugins/torch/agent/rank_plugin.hpp"

#include <map>
#include <mutex>

#include "plugins/torch/agent/session.hpp"

namespace prism::torch_agent {

Bound bind_plugin(const wire::Plugin& plugin, const char* interface, const std::string& place) {
  static std::mutex mutex;
  static auto& loaded = *new std::map<std::string, std::weak_ptr<host::Library>>;  // by path
  const std::lock_guard lock(mutex);
  const auto check = [&](const host::Outcome& outcome) {
    if (!outcome.ok()) {
      end(kAborted, place + ": " + outcome.text);
    }
  };
  Bound bound;
  bound.library = loaded[plugin.library].lock();
  if (!bound.library) {
    bound.library =
        std::make_shared<host::Library>(host::LibraryPlace{plugin.id, plugin.library, plugin.hash});
    check(bound.library->open());
    loaded[plugin.library] = bound.library;
  }
  check(bound.library->interface(interface, bound.table));
  return bound;
}

}  // namespace prism::torch_agent
