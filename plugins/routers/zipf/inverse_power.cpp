// SPDX-License-Identifier: Apache-2.0
// Products, halves and square roots only, each of which IEEE 754 rounds in one way. There is no sum
// of a product, which some compilers round once and others twice.
#include "plugins/routers/zipf/inverse_power.hpp"

#include <bit>
#include <cmath>

namespace prism::zipf {
namespace {

constexpr int kFractionBits = 52;

/// log2(n) as a multiple of 2^-52.
uint64_t log2_of(uint32_t n) {
  const int whole = static_cast<int>(std::bit_width(n)) - 1;
  double rest = std::ldexp(static_cast<double>(n), -whole);  // 1 <= rest < 2
  auto log = static_cast<uint64_t>(whole);
  for (int bit = 0; bit < kFractionBits; ++bit) {
    rest *= rest;
    log *= 2;
    if (rest >= 2) {
      rest *= 0.5;
      ++log;
    }
  }
  return log;
}

/// 2^-x for x as a multiple of 2^-52.
double inverse_exp2_of(uint64_t x) {
  double power = 1;  // 2^-0.b1 b2 b3 ..., from its last binary digit to its first
  for (int bit = 0; bit < kFractionBits; ++bit) {
    power = std::sqrt(((x >> bit) & 1) != 0 ? power * 0.5 : power);
  }
  return std::ldexp(power, -static_cast<int>(x >> kFractionBits));
}

}  // namespace

double inverse_power(uint32_t n, double exponent) {
  // At most 8 * 32 * 2^52: fits.
  return inverse_exp2_of(static_cast<uint64_t>(static_cast<double>(log2_of(n)) * exponent));
}

}  // namespace prism::zipf
