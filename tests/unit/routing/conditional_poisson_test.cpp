// SPDX-License-Identifier: Apache-2.0
#include "prism/routing/conditional_poisson.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

#include "tests/unit/routing/samples.hpp"

namespace prism::routing::detail {
namespace {

// Else the repair has more to change than it should, and what is drawn is less random.
TEST(ConditionalPoisson, MembersComeAsOftenAsWanted) {
  for (const auto& [shape, exponent] : {std::pair{Shape{200'000, 40, 4}, 0.7},
                                        {Shape{200'000, 12, 5}, 0.4},
                                        {Shape{200'000, 100, 1}, 1.0},
                                        {Shape{200'000, 300, 8}, 0.6}}) {
    const std::vector<uint64_t> counts = skewed_counts(shape, exponent);
    ASSERT_LT(*std::max_element(counts.begin(), counts.end()), shape.tokens);
    const ConditionalPoisson distribution(counts, shape.tokens, shape.top_k);
    sdk::Random random(1);
    std::vector<uint64_t> have(shape.experts);
    std::vector<uint32_t> set(shape.top_k);
    for (uint64_t t = 0; t < shape.tokens; ++t) {
      distribution.draw(random, set);
      for (size_t i = 0; i < set.size(); ++i) {
        ASSERT_LT(set[i], shape.experts);
        ASSERT_TRUE(i == 0 || set[i - 1] < set[i]);
        ++have[set[i]];
      }
    }
    double chi_square = 0;
    for (uint32_t i = 0; i < shape.experts; ++i) {
      const auto wanted = static_cast<double>(counts[i]);
      const double variance = wanted * (1 - wanted / static_cast<double>(shape.tokens));
      chi_square += std::pow(static_cast<double>(have[i]) - wanted, 2) / variance;
    }
    EXPECT_LT(chi_square, shape.experts + 4 * std::sqrt(2.0 * shape.experts))
        << "top " << shape.top_k << " of " << shape.experts;
  }
}

}  // namespace
}  // namespace prism::routing::detail
