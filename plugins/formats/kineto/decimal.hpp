// SPDX-License-Identifier: Apache-2.0
/// Times as Kineto writes them, microseconds with a fraction, exactly: a double is off by up to
/// 125 ns for a time of today.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace prism::kineto {

/// A JSON number of microseconds in ns, rounded to the nearest, halves away from 0. None: no
/// number, or none that 64 bits hold.
std::optional<int64_t> nanoseconds(std::string_view microseconds);

/// Whether it is a JSON number, however large; not with a negative exponent.
bool is_number(std::string_view text);

}  // namespace prism::kineto
