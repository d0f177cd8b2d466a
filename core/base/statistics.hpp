// SPDX-License-Identifier: Apache-2.0
/// Median and interval of a set of durations.
#pragma once

#include <vector>

#include "core/base/ids.hpp"

namespace prism {

/// The value below which a share `q` (0 .. 1) of the samples lies, interpolated linearly between
/// the two nearest ones (as numpy.quantile does). `samples` is not empty.
DurationNs quantile(std::vector<DurationNs> samples, double q);

struct Spread {
  DurationNs median = 0;
  DurationNs low = 0;   ///< 2.5 % of the samples are below
  DurationNs high = 0;  ///< 2.5 % are above
};

/// `samples` is not empty.
Spread spread_of(const std::vector<DurationNs>& samples);

}  // namespace prism
