// SPDX-License-Identifier: Apache-2.0
/// Whether a plugin's tables can be used by this host. Every check_ function returns why not, as
/// the end of the sentence "plugin 'x' cannot be used: ...", or "" when all is well; it reads no
/// field that the plugin's struct_size does not cover. Used by core/plugin, and by libraries inside
/// a rank, which get path and options from the coordinator. No dlopen here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "prism/abi/draft/format.h"
#include "prism/abi/draft/launcher.h"
#include "prism/abi/draft/runtime.h"
#include "prism/abi/option.h"
#include "prism/abi/plugin.h"
#include "prism/abi/router.h"
#include "prism/abi/tensor_source.h"
#include "prism/host/text.hpp"

namespace prism::host {

/// Bounds on what a plugin may claim.
constexpr uint64_t kMaxName = 128;
constexpr uint32_t kMaxTable = 1U << 20;  ///< bytes; no version of a table will have more
constexpr uint64_t kMaxOptions = 1024;
constexpr uint64_t kMaxChoices = 1024;

inline std::string version_text(uint32_t major, uint32_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

/// The entry table. A newer minor is fine; a plugin that uses drafts needs the very same minor.
inline std::string check_plugin(const prism_plugin_t* plugin, bool uses_drafts) {
  if (plugin == nullptr) {
    return PRISM_PLUGIN_ENTRY " returned no table";
  }
  constexpr uint32_t kMinimum = PRISM_SIZE_THROUGH(prism_plugin_t, get_interface);
  if (plugin->struct_size < kMinimum) {
    return "its table has " + std::to_string(plugin->struct_size) + " bytes, plugin ABI 1.0 has " +
           std::to_string(kMinimum);
  }
  if (plugin->struct_size > kMaxTable) {
    return "its table claims " + std::to_string(plugin->struct_size) +
           " bytes, which cannot be right";
  }
  const std::string theirs = version_text(plugin->abi_major, plugin->abi_minor);
  const std::string ours = version_text(PRISM_ABI_MAJOR, PRISM_ABI_MINOR);
  if (plugin->abi_major != PRISM_ABI_MAJOR) {
    return "it was built for plugin ABI " + theirs + ", this program has " + ours +
           "; build it with this program's SDK";
  }
  if (uses_drafts && plugin->abi_minor != PRISM_ABI_MINOR) {
    return "it uses draft interfaces and was built for plugin ABI " + theirs +
           ", this program has " + ours +
           "; drafts need the very same version: build it with this program's SDK";
  }
  if (plugin->reserved != 0 || plugin->pad != 0) {
    return "a reserved field of its table is not 0";
  }
  if (plugin->id.len == 0 || !valid_text(plugin->id, kMaxName)) {
    return "its id is no UTF-8 text of 1 to " + std::to_string(kMaxName) + " bytes";
  }
  if (plugin->version.len == 0 || !valid_text(plugin->version, kMaxName)) {
    return "its version is no UTF-8 text of 1 to " + std::to_string(kMaxName) + " bytes";
  }
  if (plugin->get_interface == nullptr) {
    return "its table has no get_interface";
  }
  return {};
}

/// Row `i`; rows may be longer than ours.
inline const prism_option_t& option_row(const prism_option_table_t& table, uint64_t i) {
  return *reinterpret_cast<const prism_option_t*>(reinterpret_cast<const char*>(table.rows) +
                                                  i * table.stride);
}

inline std::string check_options(const prism_option_table_t& table) {
  if (table.count == 0) {
    return {};
  }
  if (table.count > kMaxOptions || table.rows == nullptr || table.stride < PRISM_OPTION_SIZE_1_0 ||
      table.stride > 4096) {
    return "its option table of " + std::to_string(table.count) + " rows, " +
           std::to_string(table.stride) + " bytes each, cannot be right";
  }
  for (uint64_t i = 0; i < table.count; ++i) {
    const prism_option_t& row = option_row(table, i);
    const std::string which = "option " + std::to_string(i) + " ";
    if (row.name.len == 0 || !valid_text(row.name, kMaxName)) {
      return which + "has no usable name";
    }
    if (row.type < PRISM_OPTION_BOOL || row.type > PRISM_OPTION_PATH) {
      return which + "has the unknown type " + std::to_string(row.type);
    }
    if (!valid_text(row.default_text, kMaxText) || !valid_text(row.doc, kMaxText)) {
      return which + "has a text that is not UTF-8";
    }
    if (row.choice_count > kMaxChoices || (row.choice_count > 0 && row.choices == nullptr)) {
      return which + "has choices that cannot be right";
    }
    for (uint64_t c = 0; c < row.choice_count; ++c) {
      if (!valid_text(row.choices[c], kMaxName)) {
        return which + "has a choice that is not UTF-8";
      }
    }
    for (uint64_t other = 0; other < i; ++other) {
      const prism_str_t name = option_row(table, other).name;
      if (std::string_view(name.ptr, static_cast<size_t>(name.len)) ==
          std::string_view(row.name.ptr, static_cast<size_t>(row.name.len))) {
        return which + "has the name of option " + std::to_string(other);
      }
    }
  }
  return {};
}

namespace detail {

/// What every interface table begins with, beyond its size: `where` is "its prism.x/1".
template <typename Table>
std::string check_head(const Table& head, const std::string& where) {
  if (head.reserved != 0) {
    return "a reserved field of " + where + " is not 0";
  }
  const std::string options = check_options(head.options);
  return options.empty() ? options : where + ": " + options;
}

/// The head of a stable interface's table: at least `minimum` bytes, those of its first version.
template <typename Table>
std::string check_stable(const void* table, const char* id, uint32_t minimum) {
  if (table == nullptr) {
    return std::string("it has no ") + id;
  }
  const auto* head = static_cast<const Table*>(table);
  const std::string where = std::string("its ") + id;
  if (head->struct_size < minimum) {
    return where + " has " + std::to_string(head->struct_size) + " bytes, the first version has " +
           std::to_string(minimum);
  }
  if (head->struct_size > kMaxTable) {
    return where + " claims " + std::to_string(head->struct_size) + " bytes, which cannot be right";
  }
  return check_head(*head, where);
}

/// The head of a draft's table: exactly ours, or not usable.
template <typename Table>
std::string check_draft(const void* table, const char* id) {
  if (table == nullptr) {
    return std::string("it has no ") + id;
  }
  const auto* head = static_cast<const Table*>(table);
  if (head->struct_size != sizeof(Table)) {
    return std::string("its ") + id + " is of another draft (" + std::to_string(head->struct_size) +
           " bytes, this program's has " + std::to_string(sizeof(Table)) +
           "); build it with this program's SDK";
  }
  return check_head(*head, std::string("its ") + id);
}

}  // namespace detail

#define PRISM_HOST_NEED_(table, id, function)                             \
  if ((table)->function == nullptr) {                                     \
    return std::string("its ") + (id) + " lacks the function " #function; \
  }

inline std::string check_launcher(const void* table) {
  std::string problem = detail::check_draft<prism_launcher_t>(table, PRISM_LAUNCHER_1);
  if (!problem.empty()) {
    return problem;
  }
  const auto* launcher = static_cast<const prism_launcher_t*>(table);
  PRISM_HOST_NEED_(launcher, PRISM_LAUNCHER_1, open)
  PRISM_HOST_NEED_(launcher, PRISM_LAUNCHER_1, describe)
  PRISM_HOST_NEED_(launcher, PRISM_LAUNCHER_1, spawn)
  PRISM_HOST_NEED_(launcher, PRISM_LAUNCHER_1, signal)
  PRISM_HOST_NEED_(launcher, PRISM_LAUNCHER_1, event_fd)
  PRISM_HOST_NEED_(launcher, PRISM_LAUNCHER_1, next_exit)
  PRISM_HOST_NEED_(launcher, PRISM_LAUNCHER_1, close)
  return {};
}

inline std::string check_runtime(const void* table) {
  std::string problem = detail::check_draft<prism_runtime_t>(table, PRISM_RUNTIME_1);
  if (!problem.empty()) {
    return problem;
  }
  const auto* runtime = static_cast<const prism_runtime_t*>(table);
  PRISM_HOST_NEED_(runtime, PRISM_RUNTIME_1, open)
  PRISM_HOST_NEED_(runtime, PRISM_RUNTIME_1, probe)
  PRISM_HOST_NEED_(runtime, PRISM_RUNTIME_1, command)
  PRISM_HOST_NEED_(runtime, PRISM_RUNTIME_1, reference_command)
  PRISM_HOST_NEED_(runtime, PRISM_RUNTIME_1, measure_link_command)
  PRISM_HOST_NEED_(runtime, PRISM_RUNTIME_1, stack_signal)
  PRISM_HOST_NEED_(runtime, PRISM_RUNTIME_1, close)
  return {};
}

inline std::string check_format(const void* table) {
  std::string problem = detail::check_draft<prism_format_t>(table, PRISM_FORMAT_1);
  if (!problem.empty()) {
    return problem;
  }
  const auto* format = static_cast<const prism_format_t*>(table);
  PRISM_HOST_NEED_(format, PRISM_FORMAT_1, open)
  PRISM_HOST_NEED_(format, PRISM_FORMAT_1, close)
  if (format->import_trace == nullptr && format->export_trace == nullptr) {
    return "its " PRISM_FORMAT_1 " can neither import nor export";
  }
  return {};
}

inline std::string check_router(const void* table) {
  std::string problem = detail::check_stable<prism_router_t>(
      table, PRISM_ROUTER_1, PRISM_SIZE_THROUGH(prism_router_t, close));
  if (!problem.empty()) {
    return problem;
  }
  const auto* router = static_cast<const prism_router_t*>(table);
  PRISM_HOST_NEED_(router, PRISM_ROUTER_1, open)
  PRISM_HOST_NEED_(router, PRISM_ROUTER_1, counts)
  PRISM_HOST_NEED_(router, PRISM_ROUTER_1, close)
  if (router->logits != nullptr && router->assign == nullptr) {
    return "its " PRISM_ROUTER_1 " has logits but no assign; a router with logits needs both";
  }
  return {};
}

inline std::string check_tensor_source(const void* table) {
  std::string problem = detail::check_stable<prism_tensor_source_t>(
      table, PRISM_TENSOR_SOURCE_1, PRISM_SIZE_THROUGH(prism_tensor_source_t, close));
  if (!problem.empty()) {
    return problem;
  }
  const auto* source = static_cast<const prism_tensor_source_t*>(table);
  PRISM_HOST_NEED_(source, PRISM_TENSOR_SOURCE_1, open)
  PRISM_HOST_NEED_(source, PRISM_TENSOR_SOURCE_1, fill)
  PRISM_HOST_NEED_(source, PRISM_TENSOR_SOURCE_1, close)
  return {};
}

#undef PRISM_HOST_NEED_

/// Checks the table of an interface that this host knows; others only for being there.
inline std::string check_interface(std::string_view id, const void* table) {
  if (id == PRISM_LAUNCHER_1) {
    return check_launcher(table);
  }
  if (id == PRISM_RUNTIME_1) {
    return check_runtime(table);
  }
  if (id == PRISM_FORMAT_1) {
    return check_format(table);
  }
  if (id == PRISM_ROUTER_1) {
    return check_router(table);
  }
  if (id == PRISM_TENSOR_SOURCE_1) {
    return check_tensor_source(table);
  }
  return table == nullptr ? "it has no " + std::string(id) : std::string();
}

/// The interfaces that this host knows.
inline constexpr const char* kInterfaces[] = {PRISM_FORMAT_1, PRISM_LAUNCHER_1, PRISM_RUNTIME_1,
                                              PRISM_ROUTER_1, PRISM_TENSOR_SOURCE_1};
inline bool knows(std::string_view id) {
  for (const char* known : kInterfaces) {
    if (id == known) {
      return true;
    }
  }
  return false;
}

/// The options of an interface that this host knows, from a table that check_interface accepted;
/// none of others.
inline prism_option_table_t interface_options(std::string_view id, const void* table) {
  if (id == PRISM_LAUNCHER_1) {
    return static_cast<const prism_launcher_t*>(table)->options;
  }
  if (id == PRISM_RUNTIME_1) {
    return static_cast<const prism_runtime_t*>(table)->options;
  }
  if (id == PRISM_FORMAT_1) {
    return static_cast<const prism_format_t*>(table)->options;
  }
  if (id == PRISM_ROUTER_1) {
    return static_cast<const prism_router_t*>(table)->options;
  }
  if (id == PRISM_TENSOR_SOURCE_1) {
    return static_cast<const prism_tensor_source_t*>(table)->options;
  }
  return {};
}

}  // namespace prism::host
