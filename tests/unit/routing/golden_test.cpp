// SPDX-License-Identifier: Apache-2.0
// The same bytes with every compiler and on every machine, for as long as jobs shall be repeatable:
// a change here changes what every run with a router computes.
#include <gtest/gtest.h>
#include <vector>

#include "prism/routing/logits.hpp"
#include "prism/sdk/random.hpp"
#include "tests/unit/routing/samples.hpp"

namespace prism::routing {
namespace {

template <typename T>
uint64_t hash(const std::vector<T>& values) {
  uint64_t h = values.size();
  for (const T value : values) {
    h = sdk::scramble(h ^ value);
  }
  return h;
}

/// Counts without floating-point numbers: expert i about in proportion to 1 / (i + 1).
std::vector<uint64_t> harmonic_counts(const Shape& shape) {
  std::vector<uint64_t> counts(shape.experts);
  uint64_t left = shape.tokens * shape.top_k;
  for (uint32_t i = 0; left > 0; i = (i + 1) % shape.experts) {
    const uint64_t more =
        std::min({left, shape.tokens - counts[i], shape.tokens / (2 * (i + 1)) + 1});
    counts[i] += more;
    left -= more;
  }
  return counts;
}

TEST(Golden, Assignments) {
  struct Case {
    Shape shape;
    uint64_t expected;
  };
  for (const auto& [shape, expected] :
       {Case{{64, 16, 4}, 12167610598144123957U}, Case{{20'000, 128, 8}, 4893101985046696653U},
        Case{{5'000, 20, 14}, 1134810021978981526U}, Case{{1'000, 512, 2}, 5269668733666930960U}}) {
    const std::vector<uint64_t> counts = harmonic_counts(shape);
    EXPECT_EQ(hash(assigned(shape, counts, 42)), expected)
        << shape.tokens << " tokens, top " << shape.top_k << " of " << shape.experts;
  }
}

TEST(Golden, Logits) {
  const Shape shape{64, 16, 4};
  std::vector<uint16_t> out(shape.tokens * shape.experts);
  ASSERT_EQ(logits(shape, assigned(shape, harmonic_counts(shape), 42), std::span(out)), "");
  EXPECT_EQ(hash(out), 9961527480841411867U);
}

}  // namespace
}  // namespace prism::routing
