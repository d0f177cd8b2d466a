// SPDX-License-Identifier: Apache-2.0
/// A plugin of WELCOME, loaded into this process once however often it is named.
#pragma once

#include <memory>
#include <string>

#include "prism/host/library.hpp"
#include "prism/wire/agent.hpp"

namespace prism::torch_agent {

/// An interface of a loaded plugin; the table is static while the library lives.
struct Bound {
  std::shared_ptr<host::Library> library;
  const void* table = nullptr;
};

/// `place` names what asked for the plugin. Where it cannot be used the process ends with a
/// message.
Bound bind_plugin(const wire::Plugin& plugin, const char* interface, const std::string& place);

}  // namespace prism::torch_agent
