// SPDX-License-Identifier: Apache-2.0
// Given the counts, the assignment is uniform: against all assignments of tiny cases, and against
// exact probabilities of pairs of experts in larger ones. Seeds are fixed: a failure is no
// accident.
#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <vector>

#include "tests/unit/routing/samples.hpp"

namespace prism::routing {
namespace {

/// Sets of experts as bits, one per token.
using Matrix = std::vector<uint32_t>;

Matrix matrix_of(const Shape& shape, const std::vector<uint32_t>& experts) {
  Matrix rows(shape.tokens);
  for (size_t i = 0; i < experts.size(); ++i) {
    rows[i / shape.top_k] |= uint32_t{1} << experts[i];
  }
  return rows;
}

/// All assignments with these counts, by trying every set for every token.
std::vector<Matrix> all_matrices(const Shape& shape, const std::vector<uint64_t>& counts) {
  std::vector<Matrix> found;
  Matrix rows;
  std::vector<uint64_t> left = counts;
  const std::function<void()> next = [&] {
    if (rows.size() == shape.tokens) {
      if (std::all_of(left.begin(), left.end(), [](uint64_t n) { return n == 0; })) {
        found.push_back(rows);
      }
      return;
    }
    for (uint32_t set = 0; set < (uint32_t{1} << shape.experts); ++set) {
      bool fits = static_cast<uint32_t>(__builtin_popcount(set)) == shape.top_k;
      for (uint32_t e = 0; fits && e < shape.experts; ++e) {
        fits = (set >> e & 1) == 0 || left[e] > 0;
      }
      if (fits) {
        for (uint32_t e = 0; e < shape.experts; ++e) {
          left[e] -= set >> e & 1;
        }
        rows.push_back(set);
        next();
        rows.pop_back();
        for (uint32_t e = 0; e < shape.experts; ++e) {
          left[e] += set >> e & 1;
        }
      }
    }
  };
  next();
  return found;
}

TEST(Uniformity, TinyCasesHitAllAssignmentsEquallyOften) {
  struct Case {
    Shape shape;
    std::vector<uint64_t> counts;
  };
  for (const auto& [shape, counts] :
       {Case{{4, 4, 2}, {2, 2, 2, 2}}, Case{{3, 4, 2}, {1, 2, 2, 1}},
        Case{{4, 5, 2}, {3, 2, 1, 1, 1}}, Case{{5, 3, 1}, {2, 2, 1}}, Case{{4, 4, 3}, {4, 3, 3, 2}},
        Case{{3, 5, 3}, {3, 2, 2, 1, 1}}, Case{{2, 6, 3}, {1, 1, 1, 1, 1, 1}}}) {
    std::map<Matrix, uint64_t> hits;
    for (const Matrix& matrix : all_matrices(shape, counts)) {
      hits[matrix] = 0;
    }
    ASSERT_GT(hits.size(), 1U);
    const uint64_t draws = 400 * hits.size();
    for (uint64_t seed = 0; seed < draws; ++seed) {
      const auto hit = hits.find(matrix_of(shape, assigned(shape, counts, seed)));
      ASSERT_NE(hit, hits.end());
      ++hit->second;
    }
    double chi_square = 0;
    for (const auto& [matrix, count] : hits) {
      chi_square += std::pow(static_cast<double>(count) - 400, 2) / 400;
    }
    const auto freedom = static_cast<double>(hits.size() - 1);
    EXPECT_LT(chi_square, freedom + 4 * std::sqrt(2 * freedom)) << hits.size() << " assignments";
  }
}

/// e_size of the odds without those of experts i and j: the sum over all sets of the product.
double symmetric(const std::vector<double>& odds, uint32_t size, size_t i, size_t j) {
  std::vector<double> e(size + 1);
  e[0] = 1;
  for (size_t expert = 0; expert < odds.size(); ++expert) {
    for (uint32_t r = size; r > 0 && expert != i && expert != j; --r) {
      e[r] += e[r - 1] * odds[expert];
    }
  }
  return e[size];
}

/// How often experts i and j come together in a token when tokens draw independently, with these
/// shares of the experts and else at random: exact, in floating-point numbers.
class Independent {
 public:
  Independent(const Shape& shape, const std::vector<uint64_t>& counts)
      : top_k_(shape.top_k), odds_(counts.size(), 1) {
    const size_t none = counts.size();
    for (int round = 0; round < 2000; ++round) {
      const double all = symmetric(odds_, top_k_, none, none);
      std::vector<double> next = odds_;
      for (size_t i = 0; i < odds_.size(); ++i) {
        const double share = odds_[i] * symmetric(odds_, top_k_ - 1, i, none) / all;
        const double wanted = static_cast<double>(counts[i]) / static_cast<double>(shape.tokens);
        next[i] *= wanted / share;
        if (round == 1999) {
          EXPECT_NEAR(share, wanted, 1e-5 * wanted);
        }
      }
      odds_ = next;
    }
    all_ = symmetric(odds_, top_k_, none, none);
  }
  double together(size_t i, size_t j) const {
    return odds_[i] * odds_[j] * symmetric(odds_, top_k_ - 2, i, j) / all_;
  }

 private:
  uint32_t top_k_;
  std::vector<double> odds_;
  double all_ = 0;
};

struct Deviation {
  double mean = 0;
  double largest = 0;
};

/// Of the numbers of tokens that pairs of experts share, over all draws, relative to independent
/// ones. `draw` gives an assignment for a seed.
template <typename Draw>
Deviation deviation(const Shape& shape, const std::vector<uint64_t>& counts, int draws, Draw draw) {
  std::vector<uint64_t> together(size_t{shape.experts} * shape.experts);
  for (int seed = 0; seed < draws; ++seed) {
    const std::vector<uint32_t> experts = draw(static_cast<uint64_t>(seed));
    for (size_t first = 0; first < experts.size(); first += shape.top_k) {
      for (size_t a = first; a < first + shape.top_k; ++a) {
        for (size_t b = first; b < first + shape.top_k; ++b) {
          ++together[experts[a] * shape.experts + experts[b]];
        }
      }
    }
  }
  const Independent independent(shape, counts);
  Deviation result;
  for (uint32_t i = 0; i < shape.experts; ++i) {
    for (uint32_t j = 0; j < i; ++j) {
      const double expected =
          independent.together(i, j) * static_cast<double>(shape.tokens) * draws;
      const double off =
          std::abs(static_cast<double>(together[i * shape.experts + j]) / expected - 1);
      result.mean += off * 2 / shape.experts / (shape.experts - 1);
      result.largest = std::max(result.largest, off);
    }
  }
  return result;
}

void expect_independent(const Shape& shape, double exponent, int draws) {
  const std::vector<uint64_t> counts = skewed_counts(shape, exponent);
  const Deviation d =
      deviation(shape, counts, draws, [&](uint64_t seed) { return assigned(shape, counts, seed); });
  std::cout << shape.tokens << " tokens, top " << shape.top_k << " of " << shape.experts
            << ", exponent " << exponent << ": pairs are off by " << 100 * d.mean
            << " % on average, " << 100 * d.largest << " % at most\n";
  EXPECT_LT(d.mean, 0.02);
  EXPECT_LT(d.largest, 0.1);
}

TEST(Uniformity, PairsOfExpertsAsInIndependentDraws) {
  expect_independent({512, 32, 4}, 0.5, 2000);   // trades
  expect_independent({1100, 32, 4}, 0.5, 1000);  // draws and repair of many
  expect_independent({4096, 32, 4}, 1.0, 400);
  expect_independent({100'000, 32, 4}, 0.9, 20);  // draws and repair of few
  expect_independent({2000, 12, 8}, 0.2, 500);    // by what tokens lack
}

TEST(Uniformity, TradesAloneAgreeForManyTokens) {
  const Shape shape{20'000, 24, 4};
  const std::vector<uint64_t> counts = skewed_counts(shape, 0.5);
  const Deviation d = deviation(shape, counts, 10, [&](uint64_t seed) {
    std::vector<uint32_t> experts(shape.tokens * shape.top_k);
    sdk::Random random(seed);
    detail::assign_by_trades(
        {experts.data(), shape.tokens, shape.top_k, shape.top_k, shape.experts}, counts, random);
    return experts;
  });
  EXPECT_LT(d.mean, 0.02);
}

/// Tokens and the one `distance` further on: how many experts they share, on average.
double shared(const Shape& shape, const std::vector<uint32_t>& experts, uint64_t distance) {
  uint64_t common = 0;
  for (uint64_t t = 0; t + distance < shape.tokens; ++t) {
    const uint32_t* a = &experts[t * shape.top_k];
    const uint32_t* b = &experts[(t + distance) * shape.top_k];
    for (uint32_t i = 0; i < shape.top_k; ++i) {
      common += static_cast<uint64_t>(std::count(b, b + shape.top_k, a[i]));
    }
  }
  return static_cast<double>(common) / static_cast<double>(shape.tokens - distance);
}

TEST(Uniformity, NeighboursShareNoMoreThanChance) {
  for (const uint64_t tokens : {900ULL, 50'000ULL}) {
    const Shape shape{tokens, 32, 4};
    const std::vector<uint64_t> counts = skewed_counts(shape, 0.7);
    double by_chance = 0;  // expected number of shared experts of two tokens
    for (const uint64_t count : counts) {
      by_chance += std::pow(static_cast<double>(count) / static_cast<double>(tokens), 2);
    }
    const int draws = tokens < 1000 ? 60 : 2;
    for (const uint64_t distance : {1ULL, 2ULL, 7ULL, 450ULL}) {
      double mean = 0;
      for (int seed = 0; seed < draws; ++seed) {
        mean += shared(shape, assigned(shape, counts, static_cast<uint64_t>(seed)), distance);
      }
      mean /= draws;
      EXPECT_NEAR(mean / by_chance, 1, 0.02) << tokens << " tokens, distance " << distance;
    }
  }
}

TEST(Uniformity, EqualNeighboursAreNoMoreThanChance) {
  for (const uint64_t tokens : {1998ULL, 60'000ULL}) {
    const Shape shape{tokens, 6, 2};
    const std::vector<uint64_t> counts(6, tokens / 3);
    const int draws = tokens < 10'000 ? 100 : 3;
    uint64_t equal = 0;
    for (int seed = 0; seed < draws; ++seed) {
      const Matrix rows = matrix_of(shape, assigned(shape, counts, static_cast<uint64_t>(seed)));
      for (uint64_t t = 1; t < tokens; ++t) {
        equal += rows[t] == rows[t - 1] ? 1 : 0;
      }
    }
    const double trials = static_cast<double>(tokens) * draws;
    const double sigma = std::sqrt(trials * (1.0 / 15) * (14.0 / 15));
    EXPECT_NEAR(static_cast<double>(equal), trials / 15, 5 * sigma) << tokens << " tokens";
  }
}

TEST(Uniformity, NoPartOfTheTokensIsSpecial) {
  for (const uint64_t tokens : {600ULL, 4000ULL}) {
    const Shape shape{tokens, 32, 4};
    const std::vector<uint64_t> counts = skewed_counts(shape, 0.5);
    constexpr int kDraws = 200;
    double ratio = 0;  // of the variance of an expert's tokens in the first half to that of chance
    for (int seed = 0; seed < kDraws; ++seed) {
      const std::vector<uint32_t> experts = assigned(shape, counts, static_cast<uint64_t>(seed));
      std::vector<double> half(shape.experts);
      std::for_each_n(experts.begin(), experts.size() / 2, [&](uint32_t e) { ++half[e]; });
      for (uint32_t e = 0; e < shape.experts; ++e) {
        const auto count = static_cast<double>(counts[e]);
        const auto all = static_cast<double>(tokens);
        ratio += std::pow(half[e] - count / 2, 2) / (count * (all - count) / 4 / (all - 1));
      }
    }
    EXPECT_NEAR(ratio / kDraws / shape.experts, 1, 0.08) << tokens << " tokens";
  }
}

TEST(Uniformity, EveryPlaceOfATokenIsAsLikely) {
  const Shape shape{100'000, 16, 4};
  const std::vector<uint64_t> counts = skewed_counts(shape, 1);
  const std::vector<uint32_t> experts = assigned(shape, counts, 9);
  for (const uint32_t expert : {0U, 5U, 15U}) {
    for (uint32_t place = 0; place < shape.top_k; ++place) {
      uint64_t there = 0;
      for (uint64_t t = 0; t < shape.tokens; ++t) {
        there += experts[t * shape.top_k + place] == expert ? 1 : 0;
      }
      const auto expected = static_cast<double>(counts[expert]) / shape.top_k;
      EXPECT_NEAR(static_cast<double>(there), expected, 5 * std::sqrt(expected));
    }
  }
}

}  // namespace
}  // namespace prism::routing
