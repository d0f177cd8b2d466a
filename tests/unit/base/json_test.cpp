// SPDX-License-Identifier: Apache-2.0
#include "core/base/json.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <limits>
#include <string>

namespace prism {
namespace {

std::string written(const auto& content) {
  std::string text;
  JsonWriter json(text);
  json.value(content);
  EXPECT_TRUE(json.complete());
  return text;
}

TEST(JsonWriter, NestsAndIndents) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.member("name", "a").member("on", true);
  json.key("list").begin_array();
  json.value(1).null().begin_object().end_object();
  json.end_array();
  json.key("empty").begin_array().end_array();
  EXPECT_FALSE(json.complete());
  json.end_object();
  EXPECT_TRUE(json.complete());
  EXPECT_EQ(text,
            "{\n  \"name\": \"a\",\n  \"on\": true,\n  \"list\": [\n    1,\n    null,\n    {}\n  "
            "],\n  \"empty\": []\n}");
}

TEST(JsonWriter, NumbersKeepEveryBit) {
  EXPECT_EQ(written(std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(written(std::numeric_limits<uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(written(uint8_t{7}), "7");
  EXPECT_EQ(written(0.1), "0.1");
  for (const double number : {1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789012345680.0}) {
    EXPECT_EQ(std::strtod(written(number).c_str(), nullptr), number);
  }
  EXPECT_EQ(written(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(written(std::numeric_limits<double>::quiet_NaN()), "null");
}

TEST(JsonWriter, EscapesText) {
  EXPECT_EQ(written(std::string("a\"b\\c\n\t\r\x01\x7f") + '\0'),
            R"("a\"b\\c\n\t\r\u0001\u007f\u0000")");
  EXPECT_EQ(written("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"),
            "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"");
}

TEST(JsonWriter, ReplacesWhatIsNoUtf8) {
  const std::string replaced = "\xef\xbf\xbd";
  EXPECT_EQ(written("a\xff\x62"), "\"a" + replaced + "b\"");
  EXPECT_EQ(written("\xe2\x82"), "\"" + replaced + replaced + "\"");                 // cut short
  EXPECT_EQ(written("\xc0\xaf"), "\"" + replaced + replaced + "\"");                 // overlong
  EXPECT_EQ(written("\xed\xa0\x80"), "\"" + replaced + replaced + replaced + "\"");  // surrogate
}

TEST(JsonWriterDeathTest, RefusesWrongOrder) {
  std::string text;
  EXPECT_DEATH(JsonWriter(text).begin_object().value(1), "has_key_");
  EXPECT_DEATH(JsonWriter(text).begin_array().end_object(), "bracket");
  EXPECT_DEATH(JsonWriter(text).value(1).value(2), "started_");
}

}  // namespace
}  // namespace prism
