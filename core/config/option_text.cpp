// SPDX-License-Identifier: Apache-2.0
#include "core/config/option_text.hpp"

#include <algorithm>
#include <cmath>

#include "core/config/value.hpp"

namespace prism::config {
namespace {

template <typename Number>
std::string between(const Option& option, bool has_min, Number min, bool has_max, Number max) {
  const std::string low = has_min ? number_text(option, min) : "";
  const std::string high = has_max ? number_text(option, max) : "";
  if (has_min && has_max) {
    return low + " to " + high;
  }
  return has_min ? ">= " + low : has_max ? "<= " + high : "";
}

}  // namespace

std::string type_text(OptionType type) {
  switch (type) {
    case OptionType::Bool:
      return "bool";
    case OptionType::Int:
      return "int";
    case OptionType::Float:
      return "float";
    case OptionType::String:
      return "string";
    case OptionType::Duration:
      return "duration";
    case OptionType::Bytes:
      return "bytes";
    case OptionType::Bandwidth:
      return "bandwidth";
    case OptionType::Path:
      return "path";
    case OptionType::IntList:
      return "list of int";
    case OptionType::StringList:
      return "list of string";
    case OptionType::PathList:
      return "list of path";
    case OptionType::StringTable:
      return "table of string";
    case OptionType::StringOrList:
      return "string or list of string";
    case OptionType::RankList:
      return "ranks, as text or list of int";
  }
  return "?";
}

std::optional<std::string> value_within(const Option& option) {
  switch (option.type) {
    case OptionType::Bool:
      return "false";
    case OptionType::Float:
      if (std::isfinite(option.real_min) || std::isfinite(option.real_max)) {
        return number_text(option,
                           std::isfinite(option.real_min) ? option.real_min : option.real_max);
      }
      return std::nullopt;
    case OptionType::Int:
    case OptionType::Duration:
    case OptionType::Bytes:
      if (option.min != kNoMin || option.max != kNoMax) {
        const int64_t least =
            option.type == OptionType::Int ? option.min : std::max<int64_t>(option.min, 0);
        return number_text(option, option.min != kNoMin ? least : option.max);
      }
      return std::nullopt;
    default:
      return option.choices.empty() ? std::nullopt : std::optional(quote(option.choices.front()));
  }
}

std::string range_text(const Option& option) {
  if (!option.choices.empty()) {
    std::string text;
    for (const std::string_view choice : option.choices) {
      text += (text.empty() ? "" : " or ") + quote(choice);
    }
    return text;
  }
  switch (option.type) {
    case OptionType::Float:
      return between(option, std::isfinite(option.real_min), option.real_min,
                     std::isfinite(option.real_max), option.real_max);
    case OptionType::Int:
    case OptionType::IntList:
    case OptionType::Duration:
    case OptionType::Bytes:
    case OptionType::Bandwidth:
      return between(option, option.min != kNoMin, option.min, option.max != kNoMax, option.max);
    default:
      return {};
  }
}

std::string number_text(const Option& option, int64_t value) {
  OptionValue number;
  number.data = value;
  return write_option(option, number);
}

std::string number_text(const Option& option, double value) {
  OptionValue number;
  number.data = value;
  return write_option(option, number);
}

}  // namespace prism::config
