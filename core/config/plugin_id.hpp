// SPDX-License-Identifier: Apache-2.0
/// Which texts can be the id of a plugin: "zipf", or reverse DNS, "com.acme.tracer".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/text.hpp"
#include "core/config/source.hpp"

namespace prism::config {

inline bool is_plugin_id(std::string_view id) {
  constexpr size_t kMaxLength = 128;
  bool start = true;
  for (char c : id) {
    bool letter = c >= 'a' && c <= 'z';
    bool inner = (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (!(letter || (!start && (inner || c == '.')))) {
      return false;
    }
    start = c == '.';
  }
  return !start && id.size() <= kMaxLength;
}

/// The message about a text that is none, and what to do.
inline std::string bad_plugin_id(std::string_view id) {
  return "\"" + printable(id) + "\" is not the id of a plugin";
}
inline constexpr const char* kPluginIdHint =
    "ids are lower case: letters, digits, '_', '-', or reverse-DNS such as com.acme.tracer";

}  // namespace prism::config
