// SPDX-License-Identifier: Apache-2.0
/// Numbers with a unit: "25 us", "16 MiB", "12.5 GB/s". Decimal and exact: a text that is not a
/// whole number of the base unit, or does not fit in 64 bits, is an error, never rounded or cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "core/config/codes.hpp"

namespace prism::config {

enum class Quantity : uint8_t {
  Duration,   ///< nanoseconds
  Bytes,      ///< bytes
  Bandwidth,  ///< bytes per second
};

/// What is wrong with the text, and which bytes of it.
struct QuantityProblem {
  ErrorCode code = ErrorCode::Unit;
  std::string message;
  std::string hint;
  size_t begin = 0;
  size_t end = 0;
};

/// The number in the base unit, or what is wrong.
std::variant<int64_t, QuantityProblem> parse_quantity(Quantity quantity, std::string_view text);

/// The shortest exact text that parse_quantity reads back as `value` (which is >= 0).
std::string format_quantity(Quantity quantity, int64_t value);

/// "a duration such as \"25 us\"", for messages.
std::string_view quantity_example(Quantity quantity);

}  // namespace prism::config
