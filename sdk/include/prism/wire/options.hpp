// SPDX-License-Identifier: Apache-2.0
/// Between the options of the C ABI and those that travel to a rank.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "prism/abi/option.h"
#include "prism/host/text.hpp"
#include "prism/wire/agent.hpp"

namespace prism::wire {

inline PluginOption to_wire(const prism_option_value_t& value) {
  PluginOption option;
  option.type = static_cast<uint8_t>(value.type);
  option.set = value.set;
  if (value.set == 0) {
    return option;
  }
  switch (value.type) {
    case PRISM_OPTION_BOOL:
      option.bits = value.u.boolean;
      break;
    case PRISM_OPTION_FLOAT:
      option.bits = std::bit_cast<uint64_t>(value.u.real);
      break;
    case PRISM_OPTION_STRING:
    case PRISM_OPTION_PATH:
      option.text = host::clean_text(value.u.text);
      break;
    default:
      option.bits = static_cast<uint64_t>(value.u.integer);
  }
  return option;
}

/// The text is borrowed from `option`.
inline prism_option_value_t from_wire(const PluginOption& option) {
  prism_option_value_t value{};
  value.type = option.type;
  value.set = option.set;
  switch (option.type) {
    case PRISM_OPTION_BOOL:
      value.u.boolean = option.bits != 0 ? 1 : 0;
      break;
    case PRISM_OPTION_FLOAT:
      value.u.real = std::bit_cast<double>(option.bits);
      break;
    case PRISM_OPTION_STRING:
    case PRISM_OPTION_PATH:
      value.u.text = {option.text.data(), option.text.size()};
      break;
    default:
      value.u.integer = static_cast<int64_t>(option.bits);
  }
  return value;
}

inline std::vector<prism_option_value_t> from_wire(const std::vector<PluginOption>& options) {
  std::vector<prism_option_value_t> values;
  values.reserve(options.size());
  for (const PluginOption& option : options) {
    values.push_back(from_wire(option));
  }
  return values;
}

}  // namespace prism::wire
