// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace prism::zipf {

/// n^-exponent for n >= 1, 0 <= exponent <= 8, to 13 digits; the same bits on every machine
/// with IEEE 754 doubles and with every compiler (not with -ffast-math), which std::pow does not
/// promise.
double inverse_power(uint32_t n, double exponent);

}  // namespace prism::zipf
