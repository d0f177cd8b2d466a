// SPDX-License-Identifier: Apache-2.0
/// What this program offers to one plugin. Any thread.
#pragma once

#include <string>

#include "prism/abi/host.h"

namespace prism::plugin {

/// The plugin's log lines appear as "id: message". Never moves: the plugin keeps c().
class HostTable {
 public:
  explicit HostTable(std::string plugin_id);
  HostTable(const HostTable&) = delete;
  HostTable& operator=(const HostTable&) = delete;

  const prism_host_t* c() const { return &table_; }

 private:
  static uint8_t log_enabled(void* ctx, int32_t level) noexcept;
  static void log(void* ctx, int32_t level, prism_str_t message) noexcept;

  std::string plugin_id_;
  prism_host_t table_;
};

}  // namespace prism::plugin
