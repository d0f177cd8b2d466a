// SPDX-License-Identifier: Apache-2.0
/// A plugin's interface, and its calls as Status. For the .cpp files of this folder.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"
#include "core/plugin/registry.hpp"
#include "prism/abi/option.h"
#include "prism/host/call_notes.hpp"
#include "prism/host/sinks.hpp"
#include "prism/host/threads.hpp"

namespace prism::plugin {

inline Code code_of(prism_status_t status) {
  return status > PRISM_STATUS_OK && status <= PRISM_STATUS_DATA_LOSS ? static_cast<Code>(status)
                                                                      : Code::Unknown;
}

/// Ok, or the plugin's words after its name and function.
inline Status outcome(const LoadedPlugin& plugin, const char* function, prism_status_t status,
                      const host::ErrorSink& error, Domain domain) {
  if (status == PRISM_STATUS_OK) {
    return {};
  }
  return {code_of(status), domain,
          plugin.name() + ": " + function + "(): " + error.message(status)};
}

inline Domain machine_or(Domain otherwise, prism_status_t status) {
  return status == PRISM_STATUS_FAILED_PRECONDITION ? Domain::Environment : otherwise;
}

/// The plugin and its interface; an error says which plugins do have it.
template <typename Table>
struct Bound {
  const LoadedPlugin* plugin;
  const Table* table;
};

template <typename Table>
Result<Bound<Table>> bind(Registry& registry, std::string_view id, const char* interface) {
  PRISM_TRY_ASSIGN(const LoadedPlugin* plugin, registry.load(id));
  const auto* table = static_cast<const Table*>(plugin->interface(interface));
  if (table != nullptr) {
    return Bound<Table>{plugin, table};
  }
  std::string have;
  for (const Candidate& other : registry.list()) {
    if (other.state == State::Ok && other.manifest.offers(interface)) {
      have += (have.empty() ? "" : ", ") + other.id;
    }
  }
  return plugin_error(plugin->name() + " has no " + interface +
                          "; plugins that have it: " + (have.empty() ? "none" : have),
                      Code::NotFound);
}

/// Whose fault it is that open() failed: the machine's, that of the values, or the plugin's.
inline Domain domain_of_open(prism_status_t status) {
  if (status == PRISM_STATUS_INVALID_ARGUMENT || status == PRISM_STATUS_NOT_FOUND) {
    return Domain::Config;
  }
  return machine_or(Domain::Plugin, status);
}

/// Opens a session; all interfaces have the same open().
template <typename Table, typename Session>
Result<Session*> open_session(const Bound<Table>& bound,
                              std::span<const prism_option_value_t> values) {
  const host::ErrorSink error;
  Session* session = nullptr;
  host::ThreadRules threads(bound.plugin->name());
  const auto entered = threads.enter(host::ThreadTag::Control, "open");
  const host::NotedCall noted(bound.plugin->name(), "open");
  const prism_status_t status =
      bound.table->open(values.data(), values.size(), &session, error.c());
  PRISM_TRY(outcome(*bound.plugin, "open", status, error, domain_of_open(status)));
  if (session == nullptr) {
    return plugin_error(bound.plugin->name() + ": open() gave no session", Code::Internal);
  }
  return session;
}

}  // namespace prism::plugin
