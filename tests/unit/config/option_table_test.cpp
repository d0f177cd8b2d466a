// SPDX-License-Identifier: Apache-2.0
#include "core/config/option_table.hpp"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/schema.hpp"
#include "core/config/toml_reader.hpp"

namespace prism::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr std::array<std::string_view, 2> kColours = {"red", "green"};
constexpr Option kRows[] = {
    {.name = "flag", .type = OptionType::Bool, .default_text = "true"},
    {.name = "count", .type = OptionType::Int, .default_text = "3", .min = 1, .max = 9},
    {.name = "scale", .type = OptionType::Float},
    {.name = "colour", .type = OptionType::String, .default_text = "\"red\"", .choices = kColours},
    {.name = "wait", .type = OptionType::Duration, .max = 1'000'000},
    {.name = "memory", .type = OptionType::Bytes, .default_text = "\"1 MiB\""},
    {.name = "speed", .type = OptionType::Bandwidth},
    {.name = "file", .type = OptionType::Path, .default_text = "\"a.txt\""},
    {.name = "ranks", .type = OptionType::IntList, .min = 0},
    {.name = "words", .type = OptionType::StringList},
    {.name = "files", .type = OptionType::PathList},
    {.name = "env", .type = OptionType::StringTable},
    {.name = "both", .type = OptionType::StringOrList},
};

struct Checked {
  std::shared_ptr<const Source> source;
  Value root;
  Diagnostics diagnostics;
  std::vector<OptionValue> values;
};

std::unique_ptr<Checked> check(const std::string& text, std::span<const Option> rows = kRows) {
  auto source = std::make_shared<const Source>("t.toml", "[t]\n" + text);
  auto parsed = parse_toml(source);
  EXPECT_EQ(parsed.index(), 0u) << std::get<Diagnostics>(parsed).text();
  auto out = std::make_unique<Checked>(
      Checked{source, std::get<Value>(std::move(parsed)), Diagnostics(source), {}});
  TableScope scope{"t", out->root.table()->find("t"), "/base/dir", {}, {}};
  out->values = validate_options(scope, rows, out->diagnostics);
  return out;
}

TEST(OptionTable, DefaultsComeFromTheSameRules) {
  auto checked = check("");
  EXPECT_TRUE(checked->diagnostics.empty());
  const auto& v = checked->values;
  ASSERT_EQ(v.size(), std::size(kRows));
  EXPECT_TRUE(v[0].boolean());
  EXPECT_EQ(v[1].integer(), 3);
  EXPECT_FALSE(v[2].set());
  EXPECT_EQ(v[3].text(), "red");
  EXPECT_FALSE(v[4].set());
  EXPECT_EQ(v[5].integer(), 1 << 20);
  EXPECT_EQ(v[7].text(), "/base/dir/a.txt");
  EXPECT_EQ(v[1].origin, Origin::Default);
}

TEST(OptionTable, EveryTypeIsRead) {
  auto checked = check(R"(
flag = false
count = 0b101
scale = 2
colour = "green"
wait = "1 ms"
memory = "4 GB"
speed = "100 Gbit/s"
file = "../x/./y/"
ranks = [3, 1]
words = ["a", ""]
files = ["/abs", "rel"]
env = { A = "1", B = "" }
both = ["x", "y"]
)");
  EXPECT_EQ(checked->diagnostics.text(), "");
  const auto& v = checked->values;
  EXPECT_FALSE(v[0].boolean());
  EXPECT_TRUE(v[0].set());
  EXPECT_EQ(v[1].integer(), 5);
  EXPECT_EQ(v[2].real(), 2.0);
  EXPECT_EQ(v[3].text(), "green");
  EXPECT_EQ(v[4].integer(), 1'000'000);
  EXPECT_EQ(v[5].integer(), 4'000'000'000);
  EXPECT_EQ(v[6].integer(), 12'500'000'000);
  EXPECT_EQ(v[7].text(), "/base/x/y");
  EXPECT_THAT(v[8].integers(), ElementsAre(3, 1));
  EXPECT_THAT(v[9].texts(), ElementsAre("a", ""));
  EXPECT_THAT(v[10].texts(), ElementsAre("/abs", "/base/dir/rel"));
  EXPECT_THAT(v[11].pairs(), ElementsAre(Pair("A", "1"), Pair("B", "")));
  EXPECT_THAT(v[12].texts(), ElementsAre("x", "y"));
  EXPECT_EQ(v[1].origin, Origin::File);
  EXPECT_EQ(v[1].span().begin.line, 4u);
  EXPECT_EQ(check("both = \"x\"")->values[12].text(), "x");
}

TEST(OptionTable, WhatIsWrongIsUnset) {
  auto checked = check("count = 10\nscale = nan\ncolour = \"gren\"\nwait = \"2 ms\"\nflag = 1\n");
  const auto& shown = checked->diagnostics.shown();
  ASSERT_EQ(shown.size(), 5u);
  EXPECT_EQ(shown[0].message, "'count' in [t] must be between 1 and 9, not 10");
  EXPECT_EQ(shown[1].message, "'scale' in [t] must be a finite number, not the float nan");
  EXPECT_EQ(shown[2].message, "\"gren\" is not a value of 'colour' in [t]");
  EXPECT_EQ(shown[2].hint, "did you mean 'green'?");
  EXPECT_EQ(shown[3].message, "'wait' in [t] must be at most 1 ms, not 2 ms");
  EXPECT_EQ(shown[4].message, "'flag' in [t] must be true or false, not the integer 1");
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_FALSE(checked->values[i].set()) << i;
  }
}

TEST(OptionTable, IntegersBeyondADoubleAreNoFloats) {
  EXPECT_EQ(check("scale = 9007199254740992")->values[2].real(), 9007199254740992.0);
  auto checked = check("scale = 9007199254740993");
  EXPECT_FALSE(checked->values[2].set());
  EXPECT_EQ(checked->diagnostics.shown()[0].code, ErrorCode::Range);
}

TEST(OptionTable, RequiredAndUnknown) {
  constexpr Option kOne[] = {{.name = "need", .type = OptionType::Int, .required = true}};
  auto checked = check("nede = 1", kOne);
  ASSERT_EQ(checked->diagnostics.shown().size(), 2u);
  EXPECT_EQ(checked->diagnostics.shown()[0].code, ErrorCode::MissingKey);
  EXPECT_EQ(checked->diagnostics.shown()[0].span.begin.line, 1u);
  EXPECT_EQ(checked->diagnostics.shown()[1].code, ErrorCode::UnknownKey);
  EXPECT_EQ(checked->diagnostics.shown()[1].hint, "did you mean 'need'?");
}

TEST(OptionTable, WrittenValuesReadBack) {
  auto first = check(R"(
scale = 0.1
wait = "0.25 ms"
memory = "1536 KiB"
speed = "3 B/s"
file = "a \"quoted\"\n name\u0001"
ranks = [1]
words = ["\\", "é"]
env = { "a.b" = "c" }
both = "rank // 8"
)");
  ASSERT_EQ(first->diagnostics.text(), "");
  std::string text;
  for (size_t i = 0; i < first->values.size(); ++i) {
    if (first->values[i].set()) {
      text += std::string(kRows[i].name) + " = " + write_option(kRows[i], first->values[i]) + "\n";
    }
  }
  auto second = check(text);
  ASSERT_EQ(second->diagnostics.text(), "");
  for (size_t i = 0; i < first->values.size(); ++i) {
    EXPECT_EQ(first->values[i].data, second->values[i].data) << kRows[i].name;
  }
}

TEST(OptionTable, EveryRowOfPrismHasADocAndAGoodDefault) {
  for (const TableSchema& table : experiment_schema()) {
    EXPECT_FALSE(table.doc.empty()) << table.name;
    EXPECT_EQ(find_bad_default(table.options), std::nullopt) << table.name;
    for (const Option& row : table.options) {
      EXPECT_FALSE(row.doc.empty()) << row.name;
      EXPECT_FALSE(row.required && !row.default_text.empty()) << row.name;
    }
  }
}

}  // namespace
}  // namespace prism::config
