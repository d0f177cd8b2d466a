// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/chakra/attribute.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prism::chakra {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::literals;

/// An attribute "a" with the value `bytes`, which begin with their field's tag.
std::string with_value(std::string_view bytes) {
  return "\x0a\x01"
         "a" +
         std::string(bytes);
}

template <typename Read>
std::string problem_of(const std::string& message, Read&& read) {
  try {
    read(Attribute(message));
  } catch (const Malformed& error) {
    return error.what();
  }
  return {};
}

TEST(ChakraAttribute, WholeNumbersOfEveryTypeAreRead) {
  const struct {
    std::string_view bytes;
    int64_t value;
  } cases[] = {
      {"\x38\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv, -1},  // int32
      {"\x48\x05"sv, 5},                                       // int64
      {"\x58\x06"sv, 6},                                       // uint32
      {"\x68\x07"sv, 7},                                       // uint64
      {"\x78\x03"sv, -2},                                      // sint32
      {"\x88\x01\x04"sv, 2},                                   // sint64
      {"\x9d\x01\x01\x00\x00\x00"sv, 1},                       // fixed32
      {"\xa9\x01\x02\x00\x00\x00\x00\x00\x00\x00"sv, 2},       // fixed64
      {"\xbd\x01\xff\xff\xff\xff"sv, -1},                      // sfixed32
      {"\xc9\x01\xfe\xff\xff\xff\xff\xff\xff\xff"sv, -2},      // sfixed64
      {"\xd8\x01\x01"sv, 1},                                   // bool
  };
  for (const auto& one : cases) {
    const std::string message = with_value(one.bytes);
    EXPECT_EQ(Attribute(message).integer(), one.value);
  }
}

TEST(ChakraAttribute, ListsAreReadPackedAndNot) {
  const std::string packed = with_value("\x52\x05\x0a\x03\x01\x02\x03"sv);
  EXPECT_THAT(Attribute(packed).integers(0, 9), ElementsAre(1, 2, 3));
  const std::string single = with_value("\x52\x04\x08\x01\x08\x02"sv);
  EXPECT_THAT(Attribute(single).integers(0, 9), ElementsAre(1, 2));
  const std::string flags = with_value("\xe2\x01\x04\x0a\x02\x01\x00"sv);
  EXPECT_THAT(Attribute(flags).integers(0, 1), ElementsAre(1, 0));
  const std::string empty = with_value("\x52\x00"sv);
  EXPECT_THAT(Attribute(empty).integers(0, 9), ElementsAre());
}

TEST(ChakraAttribute, ANameMayBeANumber) {
  EXPECT_EQ(Attribute(with_value("\x48\x05")).name_or_number(), "5");
  const std::string text = with_value(
      "\xea\x01\x02"
      "dp");
  EXPECT_EQ(Attribute(text).name_or_number(), "dp");
}

TEST(ChakraAttribute, AnotherTypeIsNamed) {
  const auto integer = [](const Attribute& a) { a.integer(); };
  EXPECT_THAT(problem_of(with_value("\xea\x01\x01x"), integer),
              HasSubstr("'a' has a value of another type (field 29); a whole number was expected"));
  EXPECT_THAT(problem_of(with_value(""), integer), HasSubstr("has no value of a known type"));
  // A type that Chakra does not have yet.
  EXPECT_THAT(problem_of(with_value("\x88\x02\x01"), integer),
              HasSubstr("no value of a known type"));
  EXPECT_THAT(problem_of(with_value("\x48\x05"), [](const Attribute& a) { a.text(); }),
              HasSubstr("a text was expected"));
  EXPECT_THAT(problem_of(with_value("\x48\x05"), [](const Attribute& a) { a.integer(0, 4); }),
              HasSubstr("has the value 5; 0 to 4 was expected"));
  EXPECT_THAT(problem_of(with_value("\x68\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), integer),
              HasSubstr("18446744073709551615"));
  EXPECT_THAT(problem_of(with_value("\x4a\x01x"), integer), HasSubstr("wire type 2"));
}

TEST(ChakraAttribute, WhatIsWrittenIsRead) {
  std::string message;
  AttributeWriter to(message, 10);
  to.flag("flag", true);
  to.integer("integer", -5);
  to.integer32("integer32", -6);
  to.text("text", "words");
  to.integers("integers", {1, -1, int64_t{1} << 40U});
  to.texts("texts", {"a", "", "c"});
  std::string_view rest = message;
  const auto next = [&] {
    Field field;
    EXPECT_TRUE(take_field(rest, field));
    EXPECT_EQ(field.number, 10U);
    return Attribute(field.bytes);
  };
  EXPECT_TRUE(next().flag());
  EXPECT_EQ(next().integer(), -5);
  EXPECT_EQ(next().integer32(), -6);
  const Attribute text = next();
  EXPECT_EQ(text.name(), "text");
  EXPECT_EQ(text.text(), "words");
  EXPECT_THAT(next().integers(-1, int64_t{1} << 40U), ElementsAre(1, -1, int64_t{1} << 40U));
  EXPECT_THAT(next().texts(), ElementsAre("a", "", "c"));
}

}  // namespace
}  // namespace prism::chakra
