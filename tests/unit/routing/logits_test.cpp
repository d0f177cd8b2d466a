// SPDX-License-Identifier: Apache-2.0
// Logits lead a gate to the assignment, in f32 and in bf16.
#include "prism/routing/logits.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <set>
#include <vector>

#include "tests/unit/routing/samples.hpp"

namespace prism::routing {
namespace {

using testing::StartsWith;

float number(uint16_t bf16) {
  return std::bit_cast<float>(static_cast<uint32_t>(bf16) << 16);
}

/// The experts of a token by falling logit: what a gate's top-k gives.
std::vector<uint32_t> top(std::span<const float> row, uint32_t k) {
  std::vector<uint32_t> experts(row.size());
  for (uint32_t e = 0; e < row.size(); ++e) {
    experts[e] = e;
  }
  std::stable_sort(experts.begin(), experts.end(),
                   [&](uint32_t a, uint32_t b) { return row[a] > row[b]; });
  experts.resize(k);
  return experts;
}

std::vector<float> softmax(std::span<const float> row) {
  const float most = *std::max_element(row.begin(), row.end());
  std::vector<float> result;
  float sum = 0;
  for (const float x : row) {
    result.push_back(std::exp(x - most));
    sum += result.back();
  }
  for (float& x : result) {
    x /= sum;
  }
  return result;
}

void expect_leads_to(const Shape& shape, const std::vector<uint32_t>& experts) {
  std::vector<uint16_t> bf16(shape.tokens * shape.experts);
  std::vector<float> f32(shape.tokens * shape.experts);
  ASSERT_EQ(logits(shape, experts, std::span(bf16)), "");
  ASSERT_EQ(logits(shape, experts, std::span(f32)), "");
  for (size_t i = 0; i < f32.size(); ++i) {
    ASSERT_EQ(f32[i], number(bf16[i]));
  }
  for (uint64_t t = 0; t < shape.tokens; ++t) {
    const auto row = std::span<const float>(f32).subspan(t * shape.experts, shape.experts);
    ASSERT_EQ(std::set<float>(row.begin(), row.end()).size(), row.size()) << "a tie";
    ASSERT_TRUE(std::all_of(row.begin(), row.end(), [](float x) { return std::isnormal(x); }));
    const auto first = experts.begin() + static_cast<std::ptrdiff_t>(t * shape.top_k);
    const std::vector<uint32_t> chosen(first, first + shape.top_k);
    ASSERT_EQ(top(row, shape.top_k), chosen) << "token " << t;
    if (shape.top_k <= 384) {
      ASSERT_EQ(top(softmax(row), shape.top_k), chosen) << "token " << t << ", after softmax";
    }
  }
  EXPECT_EQ(check_logits(shape, experts, std::span<const uint16_t>(bf16)), "");
  EXPECT_EQ(check_logits(shape, experts, std::span<const float>(f32)), "");
}

TEST(Logits, RandomShapes) {
  sdk::Random random(4);
  for (int i = 0; i < 300; ++i) {
    Shape shape;
    shape.experts = static_cast<uint32_t>(1 + random.below(i % 2 == 0 ? 150 : 10));
    shape.top_k = static_cast<uint32_t>(1 + random.below(shape.experts));
    shape.tokens = random.below(30);
    expect_leads_to(shape, assigned(shape, skewed_counts(shape, random.uniform() * 3), random()));
    if (HasFatalFailure()) {
      return;
    }
  }
}

TEST(Logits, ManyExperts) {
  for (const uint32_t top_k : {1U, 8U, 384U, kMostLogits}) {
    const Shape shape{3, kMostLogits, top_k};
    expect_leads_to(shape, assigned(shape, skewed_counts(shape, 0), 1));
  }
  const Shape shape{1, kMostLogits + 1, 1};
  std::vector<float> out(shape.experts);
  EXPECT_EQ(logits(shape, std::vector<uint32_t>{0}, std::span(out)),
            "logits without ties in bf16 exist for at most 16000 experts, not for 16001");
}

TEST(Logits, SharesOfTheSoftmaxAreAsDocumented) {
  const auto mass = [](uint32_t experts, size_t from, size_t to) {
    const Shape shape{1, experts, 8};
    const std::vector<uint32_t> chosen = {0, 1, 2, 3, 4, 5, 6, 7};
    std::vector<float> out(experts);
    EXPECT_EQ(logits(shape, chosen, std::span(out)), "");
    const std::vector<float> shares = softmax(out);
    float sum = 0;
    for (size_t i = from; i < to; ++i) {
      sum += shares[i];
    }
    return sum;
  };
  EXPECT_NEAR(mass(128, 0, 8), 0.991, 0.0005);
  EXPECT_NEAR(mass(128, 0, 1), 0.15, 0.005);
  EXPECT_NEAR(mass(128, 7, 8), 0.10, 0.005);
  EXPECT_NEAR(mass(256, 0, 8), 0.985, 0.0005);
}

TEST(Logits, WhoIsNextIsNotAlwaysTheSame) {
  const Shape shape{2000, 16, 1};
  const std::vector<uint32_t> experts = assigned(shape, skewed_counts(shape, 0), 1);
  std::vector<float> out(shape.tokens * shape.experts);
  ASSERT_EQ(logits(shape, experts, std::span(out)), "");
  std::vector<int> second(16);
  for (uint64_t t = 0; t < shape.tokens; ++t) {
    ++second[top(std::span<const float>(out).subspan(t * 16, 16), 2)[1]];
  }
  for (const int n : second) {
    EXPECT_NEAR(n, 125, 60);
  }
}

TEST(Logits, SizesThatDoNotFit) {
  std::vector<float> out(11);
  EXPECT_EQ(logits({4, 3, 1}, std::vector<uint32_t>(4), std::span(out)),
            "an assignment of 4 and logits of 11 numbers do not fit 4 tokens, top 1 of 3 experts");
}

TEST(CheckLogits, SaysWhichTokenAndExpert) {
  const Shape shape{2, 3, 2};
  const std::vector<uint32_t> experts = {2, 0, 1, 2};
  const auto problem = [&](std::vector<float> values) {
    return check_logits(shape, experts, std::span<const float>(values));
  };
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::bit_cast<float>(0x7fffffffU);
  EXPECT_EQ(problem({1, -1, 2, -3, 5, 4}), "");
  EXPECT_EQ(problem({1, -1, 2, -3, 4, 5}),
            "token 1: the logit of expert 2 is above that of expert 1, which the assignment has "
            "before it");
  EXPECT_EQ(problem({1, 1.5, 2, -3, 5, 4}),
            "token 0: the logit of an expert that the assignment does not have is above that of "
            "expert 0, which it has");
  EXPECT_EQ(problem({1, -1, 2, 4, 5, 4.001F}),
            "token 1: the logit of expert 2 equals that of another one in bf16");
  EXPECT_EQ(problem({0.0F, -0.0F, 2, -3, 5, 4}),
            "token 0: the logit of expert 1 equals that of another one in bf16");
  EXPECT_EQ(problem({1, nan, 2, -3, 5, 4}), "token 0: the logit of expert 1 is not finite");
  EXPECT_EQ(problem({1, -1, inf, -3, 5, 4}), "token 0: the logit of expert 2 is not finite");
  EXPECT_EQ(problem({1, -inf, 2, -3, 5, 4}), "token 0: the logit of expert 1 is not finite");
}

}  // namespace
}  // namespace prism::routing
