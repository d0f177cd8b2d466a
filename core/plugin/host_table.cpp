// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/host_table.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/base/log.hpp"
#include "prism/abi/version.h"
#include "prism/host/text.hpp"

namespace prism::plugin {
namespace {

constexpr std::string_view kVersion = PRISM_VERSION;

log::Level level_of(int32_t level) {
  return static_cast<log::Level>(std::clamp(level, PRISM_LOG_TRACE, PRISM_LOG_ERROR));
}

}  // namespace

HostTable::HostTable(std::string plugin_id)
    : plugin_id_(std::move(plugin_id)),
      table_{sizeof(prism_host_t),
             0,
             PRISM_ABI_MAJOR,
             PRISM_ABI_MINOR,
             0,
             this,
             {kVersion.data(), kVersion.size()},
             &log_enabled,
             &log} {}

uint8_t HostTable::log_enabled(void* /*ctx*/, int32_t level) noexcept {
  return log::enabled(level_of(level)) ? 1 : 0;
}

void HostTable::log(void* ctx, int32_t level, prism_str_t message) noexcept {
  try {
    log::write(level_of(level),
               static_cast<HostTable*>(ctx)->plugin_id_ + ": " + host::clean_text(message));
  } catch (...) {  // out of memory or disk: a lost line must not end the plugin's work
  }
}

}  // namespace prism::plugin
