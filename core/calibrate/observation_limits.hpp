// SPDX-License-Identifier: Apache-2.0
/// What an observation may say, whoever made it.
#pragma once

#include "core/calibrate/observation.hpp"

namespace prism::calibrate {

/// Of a world.
inline constexpr Rank kMostRanks = 1U << 20U;

/// More than 120 years away: differences of times would not fit.
inline bool is_far(const Span& span) {
  constexpr TimeNs kMostTime = 4'000'000'000'000'000'000;
  return span.start < -kMostTime || span.end > kMostTime;
}

}  // namespace prism::calibrate
