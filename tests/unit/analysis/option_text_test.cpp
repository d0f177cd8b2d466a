// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/option_text.hpp"

#include <gtest/gtest.h>

namespace prism::analysis {
namespace {

std::string error_of(const std::string& text) {
  const Result<OptionText> option = OptionText::parse("--scale", text);
  return option.ok() ? "" : option.status().to_string();
}

TEST(OptionText, WordsAreSeparatedByBlanks) {
  const Result<OptionText> option =
      OptionText::parse("--scale", "  rank=0-7,16\tname=\"a = b \"  factor=2");
  ASSERT_TRUE(option.ok()) << option.status().to_string();
  ASSERT_EQ(option->words().size(), 3U);
  EXPECT_EQ(option->words()[0].key, "rank");
  EXPECT_EQ(option->words()[0].value, "0-7,16");
  EXPECT_EQ(option->words()[1].value, "a = b ");
  EXPECT_EQ(option->text().substr(option->words()[1].value_begin, 5), "a = b");
  EXPECT_EQ(option->find("factor")->value, "2");
  EXPECT_EQ(option->find("phase"), nullptr);
}

TEST(OptionText, MistakesAreShownInTheirPlace) {
  EXPECT_EQ(error_of("rank=1 stage"),
            "--scale:1:8: error: 'stage' is no word of the form key=value\n"
            " 1 | rank=1 stage\n"
            "   |        ^~~~~");
  EXPECT_NE(error_of("").find("words such as rank=3"), std::string::npos);
  EXPECT_NE(error_of("rank=").find("'rank' has no value"), std::string::npos);
  EXPECT_NE(error_of("=3").find("no key before the '='"), std::string::npos);
  EXPECT_NE(error_of("name=\"a").find(":1:6: error: the quote does not end"), std::string::npos);
  EXPECT_NE(error_of("name=\"a\"b").find(":1:9: error: after a value in quotes"),
            std::string::npos);
  EXPECT_NE(error_of("rank=1 rank=2").find(":1:8: error: 'rank' is given twice"),
            std::string::npos);
}

TEST(OptionText, QuantitiesHaveUnits) {
  const Result<OptionText> option =
      OptionText::parse("--set", "duration=3ms other=\"25 us\" bad=3lightyears");
  ASSERT_TRUE(option.ok());
  using config::Quantity;
  EXPECT_EQ(*option->quantity(option->words()[0], Quantity::Duration), 3'000'000);
  EXPECT_EQ(*option->quantity(option->words()[1], Quantity::Duration), 25'000);
  const Result<int64_t> bad = option->quantity(option->words()[2], Quantity::Duration);
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.status().domain(), Domain::Config);
  EXPECT_NE(bad.status().to_string().find("bad: unknown unit 'lightyears'"), std::string::npos);
}

}  // namespace
}  // namespace prism::analysis
