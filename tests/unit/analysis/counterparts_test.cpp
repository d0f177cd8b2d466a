// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/counterparts.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

#include "core/graph/builder.hpp"

namespace prism::analysis {
namespace {

using Tokens = std::vector<uint64_t>;

/// The textbook's table.
size_t length_of_longest(const Tokens& a, const Tokens& b) {
  std::vector<std::vector<size_t>> best(a.size() + 1, std::vector<size_t>(b.size() + 1, 0));
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      best[i][j] =
          a[i - 1] == b[j - 1] ? best[i - 1][j - 1] + 1 : std::max(best[i - 1][j], best[i][j - 1]);
    }
  }
  return best[a.size()][b.size()];
}

TEST(Counterparts, CommonIsALongestCommonSubsequence) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    Tokens a(random() % 12);
    Tokens b(random() % 12);
    const unsigned letters = 1 + random() % 4;
    for (Tokens* tokens : {&a, &b}) {
      for (uint64_t& token : *tokens) {
        token = random() % letters;
      }
    }
    const auto pairs = common(a, b);
    EXPECT_EQ(pairs.size(), length_of_longest(a, b)) << "round " << round;
    for (size_t i = 0; i < pairs.size(); ++i) {
      ASSERT_EQ(a[pairs[i].first], b[pairs[i].second]);
      if (i > 0) {
        EXPECT_LT(pairs[i - 1].first, pairs[i].first);
        EXPECT_LT(pairs[i - 1].second, pairs[i].second);
      }
    }
  }
}

TEST(Counterparts, OfWhatHasLittleInCommonTheNthBelongToEachOther) {
  Tokens a;
  Tokens b;
  for (uint64_t i = 0; i < 3000; ++i) {
    a.push_back(i);
    b.push_back(2999 - i);
  }
  const auto pairs = common(a, b);
  ASSERT_EQ(pairs.size(), 3000U);
  EXPECT_EQ(pairs.front(), (std::pair<uint32_t, uint32_t>{0, 2999}));
}

struct Entry {
  uint32_t lane;
  std::string name;
};
graph::Program program_of(const std::vector<std::string>& lanes,
                          const std::vector<Entry>& entries) {
  graph::Builder builder(0, 1);
  for (const std::string& lane : lanes) {
    builder.add_lane(graph::LaneKind::Cpu, lane);
  }
  graph::Program program;
  std::vector<graph::Labels> labels;
  std::vector<std::string> texts;
  for (const Entry& entry : entries) {
    builder.add_compute(entry.lane, 1);
    labels.push_back({static_cast<uint32_t>(texts.size())});
    texts.push_back(entry.name);
  }
  program = std::move(builder).finish();
  program.labels = std::move(labels);
  program.texts = std::move(texts);
  return program;
}

TEST(Counterparts, LanesBelongTogetherByWhatIsOnThem) {
  const graph::Program first =
      program_of({"cpu:7", "cpu:9"}, {{0, "a"}, {1, "x"}, {0, "b"}, {1, "y"}, {0, "c"}});
  const graph::Program other = program_of(
      {"cpu:9", "cpu:7"}, {{0, "a"}, {0, "poll"}, {0, "b"}, {1, "x"}, {1, "y"}, {0, "c"}});
  EXPECT_EQ(counterparts(first, other), (std::vector<uint32_t>{0, graph::kNone, 2, 1, 3, 4}));
}

}  // namespace
}  // namespace prism::analysis
