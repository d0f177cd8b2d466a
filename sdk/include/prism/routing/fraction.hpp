// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace prism::routing::detail {

/// A number of [0, 1] as a multiple of 2^-63, rounded down. Integers, because compilers may round
/// a * b + c of floating-point numbers once or twice, and one different choice changes all later.
using Fraction = uint64_t;
constexpr Fraction kOne = uint64_t{1} << 63;

__extension__ using Wide = unsigned __int128;

constexpr Fraction times(Fraction a, Fraction b) noexcept {
  return static_cast<Fraction>((Wide{a} * b) >> 63);
}

/// part / whole, for part <= whole, whole > 0.
constexpr Fraction ratio(uint64_t part, uint64_t whole) noexcept {
  return static_cast<Fraction>((Wide{part} << 63) / whole);
}

}  // namespace prism::routing::detail
