// SPDX-License-Identifier: Apache-2.0
/// The entry of a plugin, once per plugin:
///
///   PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION, prism::sdk::Launcher<LocalLauncher>)
///
/// The arguments after id and version are *parts*: interfaces (Launcher<T>, Runtime<T>, or any type
/// with `static constexpr std::string_view kId` and `static const void* table() noexcept`), and
/// types with `static void init()` and `static void deinit()`, called in order and in reverse when
/// the host starts and ends the plugin. A part may be both. prism_add_plugin defines
/// PRISM_PLUGIN_ID and PRISM_PLUGIN_VERSION, so that binary and manifest cannot differ.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "prism/abi/plugin.h"
#include "prism/sdk/error.hpp"
#include "prism/sdk/log.hpp"
#include "prism/sdk/text.hpp"

namespace prism::sdk::detail {

template <typename T>
concept Interface = requires {
  { T::kId } -> std::convertible_to<std::string_view>;
  { T::table() } -> std::convertible_to<const void*>;
};
template <typename T>
concept HasInit = requires {
  T::init();
};
template <typename T>
concept HasDeinit = requires {
  T::deinit();
};

constexpr bool valid_id(std::string_view id) {
  if (id.size() < 2 || id.size() > 128 || id[0] < 'a' || id[0] > 'z' || id.back() == '.') {
    return false;
  }
  for (const char c : id) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.')) {
      return false;
    }
  }
  return true;
}

template <typename... Parts>
struct Plugin {
  static_assert((true && ... && (Interface<Parts> || HasInit<Parts> || HasDeinit<Parts>)),
                "every part of PRISM_PLUGIN must be an interface, such as "
                "prism::sdk::Launcher<MyLauncher>, or have static init() or deinit()");

  /// How many parts are started; all of them between init and deinit.
  __attribute__((visibility("hidden"))) static inline size_t started = 0;

  static prism_status_t init(const prism_host_t* host, const prism_error_sink_t* err) noexcept {
    if (detail::g_host != nullptr) {
      return PRISM_STATUS_OK;  // tools may repeat it
    }
    if (host == nullptr || !PRISM_HAS(host, prism_host_t, log) ||
        host->abi_major != PRISM_ABI_MAJOR) {
      return fail(err, PRISM_STATUS_FAILED_PRECONDITION,
                  "the host's table is not that of plugin ABI major 1");
    }
    detail::g_host = host;
    const prism_status_t status = guarded(err, [] { (start<Parts>(), ...); });
    if (status != PRISM_STATUS_OK) {
      deinit();
    }
    return status;
  }

  static void deinit() noexcept {
    stop<Parts...>(started);
    started = 0;
    detail::g_host = nullptr;
  }

  static const void* get_interface(prism_str_t id) noexcept {
    const void* table = nullptr;
    (offer<Parts>(id, table), ...);
    return table;
  }

  static constexpr prism_plugin_t describe(std::string_view id, std::string_view version) {
    return {sizeof(prism_plugin_t),
            0,
            PRISM_ABI_MAJOR,
            PRISM_ABI_MINOR,
            0,
            to_c(id),
            to_c(version),
            &Plugin::init,
            &Plugin::deinit,
            &Plugin::get_interface};
  }

 private:
  template <typename Part>
  static void start() {
    if constexpr (HasInit<Part>) {
      Part::init();
    }
    ++started;
  }

  /// Stops the first `count` of these parts, last first.
  template <typename... None>
  static void stop(size_t /*count*/) noexcept requires(sizeof...(None) == 0) {}
  template <typename First, typename... Rest>
  static void stop(size_t count) noexcept {
    if (count == 0) {
      return;
    }
    stop<Rest...>(count - 1);
    if constexpr (HasDeinit<First>) {
      First::deinit();
    }
  }

  template <typename Part>
  static void offer([[maybe_unused]] prism_str_t id, [[maybe_unused]] const void*& table) noexcept {
    if constexpr (Interface<Part>) {
      if (view(id) == std::string_view(Part::kId)) {
        table = Part::table();
      }
    }
  }
};

}  // namespace prism::sdk::detail

#define PRISM_PLUGIN(id, version, ...)                                                      \
  static_assert(::prism::sdk::detail::valid_id(id),                                         \
                "a plugin id is a-z, 0-9 and _ (or reverse DNS) and begins with a letter"); \
  extern "C" __attribute__((visibility("default"))) const prism_plugin_t*                   \
  prism_plugin_v1() noexcept {                                                              \
    static constexpr prism_plugin_t kTable =                                                \
        ::prism::sdk::detail::Plugin<__VA_ARGS__>::describe(id, version);                   \
    return &kTable;                                                                         \
  }                                                                                         \
  static_assert(true, "a semicolon may follow")
