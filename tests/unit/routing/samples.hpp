// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

#include "prism/routing/assign.hpp"

namespace prism::routing {

/// Counts that can be realised, the expert of index i about in proportion to (i + 1)^-exponent.
inline std::vector<uint64_t> skewed_counts(const Shape& shape, double exponent) {
  std::vector<double> share(shape.experts);
  double sum = 0;
  for (uint32_t i = 0; i < shape.experts; ++i) {
    sum += share[i] = std::pow(i + 1, -exponent);
  }
  std::vector<uint64_t> counts(shape.experts);
  uint64_t left = shape.tokens * shape.top_k;
  for (uint32_t i = 0; i < shape.experts; ++i) {
    const double wanted = share[i] / sum * static_cast<double>(shape.tokens * shape.top_k);
    counts[i] = std::min({static_cast<uint64_t>(wanted), shape.tokens, left});
    left -= counts[i];
  }
  for (uint32_t i = 0; left > 0; i = (i + 1) % shape.experts) {
    const uint64_t more = std::min(left, std::min(shape.tokens - counts[i], left / 4 + 1));
    counts[i] += more;
    left -= more;
  }
  return counts;
}

inline std::vector<uint32_t> assigned(const Shape& shape, const std::vector<uint64_t>& counts,
                                      uint64_t seed) {
  std::vector<uint32_t> experts(shape.tokens * shape.top_k);
  EXPECT_EQ(assign(shape, counts, seed, experts), "");
  return experts;
}

}  // namespace prism::routing
