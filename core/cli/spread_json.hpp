// SPDX-License-Identifier: Apache-2.0
/// A spread as metrics.json has it.
#pragma once

#include <string_view>

#include "core/base/json.hpp"
#include "core/base/statistics.hpp"

namespace prism::cli {

inline void write_spread(JsonWriter& json, std::string_view name, const Spread& spread) {
  json.key(name).begin_object();
  json.member("median", spread.median);
  json.member("low", spread.low);
  json.member("high", spread.high);
  json.end_object();
}

}  // namespace prism::cli
