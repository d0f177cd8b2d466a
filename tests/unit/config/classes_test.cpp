// SPDX-License-Identifier: Apache-2.0
#include "core/config/classes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/rank_expression.hpp"

namespace prism::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Classes good(const ClassSpec& spec, uint32_t world_size) {
  std::vector<ClassProblem> problems;
  auto classes = resolve_classes(spec, world_size, problems);
  EXPECT_TRUE(classes.has_value()) << (problems.empty() ? "?" : problems[0].message);
  EXPECT_TRUE(problems.empty());
  return classes.value_or(Classes{});
}

std::vector<ClassProblem> bad(const ClassSpec& spec, uint32_t world_size) {
  std::vector<ClassProblem> problems;
  EXPECT_FALSE(resolve_classes(spec, world_size, problems).has_value());
  EXPECT_FALSE(problems.empty());
  problems.resize(std::max<size_t>(problems.size(), 1));
  return problems;
}

ClassSpec text(std::string value) {
  return {{std::move(value)}, false};
}
ClassSpec list(std::vector<std::string> items) {
  return {std::move(items), true};
}

int64_t value(std::string_view expression, Rank rank) {
  auto compiled = RankExpression::compile(expression);
  if (auto* problem = std::get_if<RankExpressionProblem>(&compiled)) {
    ADD_FAILURE() << expression << ": " << problem->message;
    return 0;
  }
  auto result = std::get<RankExpression>(compiled).evaluate(rank);
  EXPECT_EQ(result.index(), 0u) << expression;
  return result.index() == 0 ? std::get<int64_t>(result) : 0;
}

TEST(Classes, AllAndNone) {
  EXPECT_THAT(good(text("all"), 4), ElementsAre(ElementsAre(0, 1, 2, 3)));
  EXPECT_THAT(good(text("none"), 3), ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
  EXPECT_THAT(good(text("all"), 1), ElementsAre(ElementsAre(0)));
}

TEST(Classes, ListsKeepTheOrderOfWriting) {
  EXPECT_THAT(good(list({"4-7", "0-3"}), 8),
              ElementsAre(ElementsAre(4, 5, 6, 7), ElementsAre(0, 1, 2, 3)));
  EXPECT_THAT(good(list({"0-6:2", " 7 , 1, 3 - 5:2 "}), 8),
              ElementsAre(ElementsAre(0, 2, 4, 6), ElementsAre(7, 1, 3, 5)));
  // A step that goes past the end of its range names only what is inside.
  EXPECT_THAT(good(list({"0-4:3", "1-2,4"}), 5),
              ElementsAre(ElementsAre(0, 3), ElementsAre(1, 2, 4)));
}

TEST(Classes, ExpressionsGroupByValueInOrderOfRank) {
  EXPECT_THAT(good(text("rank // 2"), 4), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(good(text("-rank % 2"), 4), ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  EXPECT_EQ(good(text("rank % 1000"), 1 << 20).size(), 1000u);
}

TEST(Classes, OverlapNamesTheRankAndBothPlaces) {
  auto problems = bad(list({"0-4", "8,4-7"}), 8);
  // 8 does not exist, 4 is taken: both are said, and that 8 ranks are covered or not is not.
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_TRUE(problems[0].beyond_world);
  EXPECT_THAT(problems[0].message, HasSubstr("rank 8 does not exist"));
  EXPECT_EQ(problems[1].message, "rank 4 is in class 1 and in class 0");
  ASSERT_TRUE(problems[1].place && problems[1].other);
  EXPECT_EQ(problems[1].place->item, 1u);
  EXPECT_EQ(problems[1].place->begin, 2u);
  EXPECT_EQ(problems[1].place->end, 5u);
  EXPECT_EQ(problems[1].other->item, 0u);
}

TEST(Classes, MissingRanksAreListedAsRanges) {
  EXPECT_THAT(bad(list({"1-2", "6"}), 8)[0].message, HasSubstr("ranks 0, 3-5, 7 are in no class"));
  EXPECT_THAT(bad(list({"0-6"}), 8)[0].message, HasSubstr("rank 7 is in no class"));
  EXPECT_THAT(bad(list({"0-98:2"}), 100)[0].message,
              HasSubstr("ranks 1, 3, 5, 7, 9, 11, 13, 15 and 42 more are in no class"));
}

TEST(Classes, HugeNumbersCostNothing) {
  EXPECT_TRUE(bad(list({"0-18446744073709551615"}), 8)[0].beyond_world);
  EXPECT_THAT(bad(list({"0-18446744073709551616"}), 8)[0].message, HasSubstr("64 bits"));
  EXPECT_THAT(good(list({"0-7:18446744073709551615", "1-7"}), 8)[0], ElementsAre(0));
  std::string many = "0-1048575";
  for (int i = 0; i < 100'000; ++i) {
    many += ",0-1048575";
  }
  EXPECT_LE(bad(list({many}), 1 << 20).size(), 20u);
}

TEST(RankExpression, PrecedenceAndRoundingAreThoseOfPython) {
  EXPECT_EQ(value("rank", 5), 5);
  EXPECT_EQ(value("1 + 2 * rank", 5), 11);
  EXPECT_EQ(value("(1 + 2) * rank", 5), 15);
  EXPECT_EQ(value("100 - rank - 1", 5), 94);
  EXPECT_EQ(value("100 // rank // 3", 7), 4);
  EXPECT_EQ(value("rank // 8 * 2 + rank % 2", 27), 7);
  EXPECT_EQ(value("-rank // 2", 7), -4);
  EXPECT_EQ(value("-rank % 3", 7), 2);
  EXPECT_EQ(value("rank // -2", 7), -4);
  EXPECT_EQ(value("rank % -3", 7), -2);
  EXPECT_EQ(value("--rank", 7), 7);
  EXPECT_EQ(value("2*-rank", 7), -14);
  EXPECT_EQ(value("(0 - 9223372036854775807 - 1) % -1 + rank", 3), 3);
}

TEST(RankExpression, OverflowAndDivisionByZeroNameRankAndOperator) {
  auto check = [](std::string_view expression, Rank rank, std::string_view message, size_t begin) {
    auto compiled = RankExpression::compile(expression);
    ASSERT_EQ(compiled.index(), 0u) << expression;
    auto result = std::get<RankExpression>(compiled).evaluate(rank);
    ASSERT_EQ(result.index(), 1u) << expression;
    const auto& problem = std::get<RankExpressionProblem>(result);
    EXPECT_TRUE(problem.in_evaluation);
    EXPECT_EQ(problem.message, message);
    EXPECT_EQ(problem.begin, begin);
  };
  check("8 // (rank - 3)", 3, "division by zero for rank 3", 2);
  check("8 % rank", 0, "division by zero for rank 0", 2);
  check("9223372036854775807 + rank", 1, "the value does not fit in 64 bits for rank 1", 20);
  check("9223372036854775807 * rank", 2, "the value does not fit in 64 bits for rank 2", 20);
  check("0 - 9223372036854775807 - rank", 2, "the value does not fit in 64 bits for rank 2", 24);
  check("(0 - 9223372036854775807 - rank) // -1", 1, "the value does not fit in 64 bits for rank 1",
        33);
  check("-(0 - 9223372036854775807 - rank)", 1, "the value does not fit in 64 bits for rank 1", 0);
}

TEST(RankExpression, GarbageIsRefusedWithAPlaceInside) {
  for (std::string_view expression : {"",           " ",           "8",
                                      "rank rank",  "rank +",      "* rank",
                                      "rank / 8",   "rank ** 2",   "(rank",
                                      "rank)",      "()",          "rank & 1",
                                      "ranks",      "rank.x",      "0x10 + rank",
                                      "1.5 * rank", "rank // 1e3", "rank;",
                                      "rank\n",     "r\xc3\xa4nk", "9223372036854775808 + rank",
                                      "rank,1"}) {
    auto compiled = RankExpression::compile(expression);
    ASSERT_EQ(compiled.index(), 1u) << expression;
    const auto& problem = std::get<RankExpressionProblem>(compiled);
    EXPECT_FALSE(problem.message.empty());
    EXPECT_LE(problem.begin, expression.size()) << expression;
  }
  EXPECT_EQ(RankExpression::compile(std::string(900, '-') + "rank").index(), 0u);
  EXPECT_EQ(RankExpression::compile(std::string(65, '(') + "rank" + std::string(65, ')')).index(),
            1u);
}

}  // namespace
}  // namespace prism::config
