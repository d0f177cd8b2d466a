// SPDX-License-Identifier: Apache-2.0
/// Logging through the host, so that a plugin's lines are in the run's log. Thread: [any], from
/// init until deinit; outside of it lines are dropped.
///
///   prism::sdk::log(prism::sdk::Level::Debug, [&] { return "guard is " + std::to_string(pid); });
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "prism/abi/host.h"
#include "prism/sdk/text.hpp"

namespace prism::sdk {

enum class Level : int32_t {
  Trace = PRISM_LOG_TRACE,
  Debug = PRISM_LOG_DEBUG,
  Info = PRISM_LOG_INFO,
  Warn = PRISM_LOG_WARN,
  Error = PRISM_LOG_ERROR,
};

namespace detail {
// Hidden even where a plugin is built with default visibility: each plugin has its own.
__attribute__((visibility("hidden"))) inline const prism_host_t* g_host = nullptr;
}  // namespace detail

/// The host's table; nullptr outside of init .. deinit.
inline const prism_host_t* host() noexcept {
  return detail::g_host;
}

inline bool log_enabled(Level level) noexcept {
  const prism_host_t* h = host();
  return h != nullptr && h->log_enabled(h->ctx, static_cast<int32_t>(level)) != 0;
}

inline void log(Level level, std::string_view message) noexcept {
  if (log_enabled(level)) {
    host()->log(host()->ctx, static_cast<int32_t>(level), to_c(message));
  }
}

/// The text is made only when the level is kept. What making it throws is swallowed: a log line
/// must not change what the program does.
template <std::invocable Make>
void log(Level level, Make&& make) noexcept {
  if (!log_enabled(level)) {
    return;
  }
  try {
    const std::string message = make();
    log(level, std::string_view(message));
  } catch (...) {  // the line is lost, see above
  }
}

}  // namespace prism::sdk
