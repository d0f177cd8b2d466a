// SPDX-License-Identifier: Apache-2.0
/// Stable names of what can be wrong with an experiment file; docs/errors.md explains each.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace prism::config {

enum class ErrorCode : uint8_t {
  File,
  Empty,
  TooLarge,
  Encoding,
  Depth,
  Syntax,
  Redefined,
  UnknownTable,
  UnknownKey,
  MissingTable,
  MissingKey,
  Type,
  Range,
  Choice,
  Unit,
  Text,
  Name,
  Placeholder,
  Path,
  Duplicate,
  Rank,
  ClassSyntax,
  ClassValue,
  ClassOverlap,
  ClassCover,
  Link,
  Override,
  Plugin,
};

/// In the order of ErrorCode.
inline constexpr std::array<std::string_view, 28> kErrorCodeNames = {
    "E-CFG-FILE",        "E-CFG-EMPTY",         "E-CFG-TOO-LARGE",   "E-CFG-ENCODING",
    "E-CFG-DEPTH",       "E-CFG-SYNTAX",        "E-CFG-REDEFINED",   "E-CFG-UNKNOWN-TABLE",
    "E-CFG-UNKNOWN-KEY", "E-CFG-MISSING-TABLE", "E-CFG-MISSING-KEY", "E-CFG-TYPE",
    "E-CFG-RANGE",       "E-CFG-CHOICE",        "E-CFG-UNIT",        "E-CFG-TEXT",
    "E-CFG-NAME",        "E-CFG-PLACEHOLDER",   "E-CFG-PATH",        "E-CFG-DUPLICATE",
    "E-CFG-RANK",        "E-CFG-CLASS-SYNTAX",  "E-CFG-CLASS-VALUE", "E-CFG-CLASS-OVERLAP",
    "E-CFG-CLASS-COVER", "E-CFG-LINK",          "E-CFG-OVERRIDE",    "E-CFG-PLUGIN"};
static_assert(kErrorCodeNames.size() == static_cast<size_t>(ErrorCode::Plugin) + 1);

constexpr std::string_view error_code_name(ErrorCode code) {
  return kErrorCodeNames[static_cast<size_t>(code)];
}

}  // namespace prism::config
