// SPDX-License-Identifier: Apache-2.0
#include "core/base/statistics.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/status.hpp"

namespace prism {

DurationNs quantile(std::vector<DurationNs> samples, double q) {
  PRISM_ASSERT(!samples.empty());
  std::sort(samples.begin(), samples.end());
  const double place = q * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, samples.size() - 1);
  const double part = place - static_cast<double>(below);
  return samples[below] + static_cast<DurationNs>(std::llround(
                              part * static_cast<double>(samples[above] - samples[below])));
}

Spread spread_of(const std::vector<DurationNs>& samples) {
  return {quantile(samples, 0.5), quantile(samples, 0.025), quantile(samples, 0.975)};
}

}  // namespace prism
