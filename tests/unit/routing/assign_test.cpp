// SPDX-License-Identifier: Apache-2.0
// Assignments have exactly the counts that were asked for, and counts that cannot be are refused.
#include "prism/routing/assign.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <vector>

#include "tests/unit/routing/samples.hpp"

namespace prism::routing {
namespace {

/// A check of its own, unlike check_assignment: by sorting.
void expect_exact(const Shape& shape, const std::vector<uint64_t>& counts, uint64_t seed) {
  const std::vector<uint32_t> experts = assigned(shape, counts, seed);
  std::vector<uint64_t> got(shape.experts);
  for (uint64_t t = 0; t < shape.tokens; ++t) {
    const auto first = experts.begin() + static_cast<std::ptrdiff_t>(t * shape.top_k);
    const std::set<uint32_t> different(first, first + shape.top_k);
    ASSERT_EQ(different.size(), shape.top_k) << "token " << t;
    for (const uint32_t e : different) {
      ASSERT_LT(e, shape.experts);
      ++got[e];
    }
  }
  ASSERT_EQ(got, counts);
}

TEST(Assign, RandomShapesAndSkews) {
  sdk::Random random(11);
  for (int i = 0; i < 3000; ++i) {
    Shape shape;
    shape.experts = static_cast<uint32_t>(1 + random.below(i % 3 == 0 ? 200 : 12));
    shape.top_k = static_cast<uint32_t>(1 + random.below(shape.experts));
    shape.tokens = random.below(i % 10 == 0 ? 3000 : 60);
    const double exponent = random.uniform() * 4;
    SCOPED_TRACE("tokens " + std::to_string(shape.tokens) + " experts " +
                 std::to_string(shape.experts) + " top " + std::to_string(shape.top_k) +
                 " exponent " + std::to_string(exponent));
    expect_exact(shape, skewed_counts(shape, exponent), random());
    if (HasFatalFailure()) {
      return;
    }
  }
}

TEST(Assign, ManyTokensOfEverySkew) {
  for (const double exponent : {0.0, 0.5, 1.0, 1.2, 3.0, 8.0}) {
    for (const Shape& shape :
         {Shape{100'000, 128, 8}, Shape{50'000, 16, 15}, Shape{50'000, 9, 8}, Shape{20'000, 60, 30},
          Shape{100'000, 2, 1}, Shape{9'999, 1, 1}, Shape{30'000, 12, 12}, Shape{5'000, 2000, 4}}) {
      expect_exact(shape, skewed_counts(shape, exponent), 5);
    }
  }
}

TEST(Assign, ExpertsThatNearlyAllOrNearlyNoTokensGet) {
  constexpr uint64_t kTokens = 100'000;
  std::vector<uint64_t> counts(40, 0);
  std::fill_n(counts.begin(), 7, kTokens - 3);
  counts[7] = kTokens;
  counts[8] = 1;
  counts[9] = 20;
  expect_exact({kTokens, 40, 8}, counts, 1);
  // The same with too little room for repairs to be easy: only expert 1 may vary with expert 0.
  expect_exact({kTokens, 2, 1}, {kTokens - 1, 1}, 1);
}

TEST(Assign, TradesServeManyTokensToo) {
  // What assign() falls back to.
  const Shape shape{20'000, 64, 8};
  const std::vector<uint64_t> counts = skewed_counts(shape, 0.3);
  std::vector<uint32_t> experts(shape.tokens * shape.top_k);
  sdk::Random random(3);
  detail::assign_by_trades({experts.data(), shape.tokens, shape.top_k, shape.top_k, shape.experts},
                           counts, random);
  EXPECT_EQ(check_assignment(shape, counts, experts), "");
}

TEST(Assign, SameSeedSameBytesOtherSeedOtherBytes) {
  for (const uint64_t tokens : {100ULL, 5000ULL}) {
    const Shape shape{tokens, 64, 8};
    const std::vector<uint64_t> counts = skewed_counts(shape, 1);
    EXPECT_EQ(assigned(shape, counts, 1), assigned(shape, counts, 1));
    EXPECT_NE(assigned(shape, counts, 1), assigned(shape, counts, 2));
  }
}

TEST(Assign, CountsThatCannotBe) {
  std::vector<uint32_t> experts(20);
  const Shape shape{10, 4, 2};
  const auto problem = [&](std::vector<uint64_t> counts) {
    return assign(shape, counts, 1, experts);
  };
  EXPECT_EQ(problem({5, 5, 5, 5}), "");
  EXPECT_EQ(problem({5, 5, 5, 4}),
            "the counts of the experts add up to 19, but 10 tokens to 2 experts each make 20");
  EXPECT_EQ(problem({5, 5, 5, 6}),
            "the counts of the experts add up to 21, but 10 tokens to 2 experts each make 20");
  EXPECT_EQ(problem({0, 0, 9, 11}), "expert 3 gets 11 tokens, but there are only 10");
  EXPECT_EQ(problem({5, 5, 10}), "there are 3 counts for 4 experts");
  EXPECT_EQ(assign({10, 4, 2}, std::vector<uint64_t>{5, 5, 5, 5}, 1, std::span(experts).first(8)),
            "the assignment needs room for 20 numbers, not 8");
}

TEST(Assign, ShapesThatCannotBe) {
  EXPECT_EQ(check_shape({10, 0, 1}), "there is no expert; a layer has at least 1");
  EXPECT_EQ(check_shape({10, 4, 5}),
            "each token goes to 5 different experts of 4; it must be 1 to 4");
  EXPECT_EQ(check_shape({10, 4, 0}),
            "each token goes to 0 different experts of 4; it must be 1 to 4");
  EXPECT_EQ(check_shape({uint64_t{1} << 62, 4, 2}),
            "4611686018427387904 tokens are more than can be counted");
}

TEST(CheckAssignment, SaysWhichTokenOrExpert) {
  const Shape shape{3, 4, 2};
  const std::vector<uint64_t> counts = {3, 1, 1, 1};
  const auto problem = [&](std::vector<uint32_t> assignment) {
    return check_assignment(shape, counts, assignment);
  };
  EXPECT_EQ(problem({0, 1, 2, 0, 0, 3}), "");
  EXPECT_EQ(problem({0, 1, 2, 0, 0}), "the assignment has 5 numbers, not 6");
  EXPECT_EQ(problem({0, 1, 2, 2, 0, 3}), "token 1 goes to expert 2 twice");
  EXPECT_EQ(problem({0, 1, 2, 4, 0, 3}), "token 1 goes to expert 4, but there are only 4");
  EXPECT_EQ(problem({0, 1, 0, 1, 0, 3}), "expert 1 gets 2 tokens, its count is 1");
}

}  // namespace
}  // namespace prism::routing
