// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/chakra/wire.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace prism::chakra {
namespace {

using ::testing::HasSubstr;
using namespace std::literals;

/// What is wrong with a message; empty: nothing.
std::string problem_of(std::string_view message) {
  Field field;
  try {
    while (take_field(message, field)) {
    }
  } catch (const Malformed& error) {
    return error.what();
  }
  return {};
}

TEST(ChakraWire, VarintsAreThoseOfTheEncodingGuide) {
  for (const auto& [value, bytes] :
       {std::pair(uint64_t{0}, "\0"s), std::pair(uint64_t{1}, "\x01"s),
        std::pair(uint64_t{150}, "\x96\x01"s), std::pair(uint64_t{1} << 14U, "\x80\x80\x01"s),
        std::pair(std::numeric_limits<uint64_t>::max(),
                  "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s)}) {
    std::string put;
    put_varint(put, value);
    EXPECT_EQ(put, bytes);
    std::string_view left = bytes;
    EXPECT_EQ(take_varint(left), value);
    EXPECT_TRUE(left.empty());
  }
}

TEST(ChakraWire, ZigzagNumbersAreSigned) {
  EXPECT_EQ(zigzag_decoded(0), 0);
  EXPECT_EQ(zigzag_decoded(1), -1);
  EXPECT_EQ(zigzag_decoded(2), 1);
  EXPECT_EQ(zigzag_decoded(std::numeric_limits<uint64_t>::max()),
            std::numeric_limits<int64_t>::min());
}

TEST(ChakraWire, FieldsOfEveryTypeAreTaken) {
  std::string_view message =
      "\x08\x96\x01"  // 1: varint 150
      "\x12\x03"
      "abc"                                   // 2: bytes
      "\x1d\x01\x02\x03\x04"                  // 3: 32 bits
      "\x21\x01\x00\x00\x00\x00\x00\x00\x80"  // 4: 64 bits
      ""sv;
  Field field;
  ASSERT_TRUE(take_field(message, field));
  EXPECT_EQ(field.number, 1U);
  EXPECT_EQ(field.value, 150U);
  ASSERT_TRUE(take_field(message, field));
  EXPECT_EQ(field.wire, Wire::Bytes);
  EXPECT_EQ(field.bytes, "abc");
  ASSERT_TRUE(take_field(message, field));
  EXPECT_EQ(field.wire, Wire::Fixed32);
  EXPECT_EQ(field.value, 0x04030201U);
  ASSERT_TRUE(take_field(message, field));
  EXPECT_EQ(field.wire, Wire::Fixed64);
  EXPECT_EQ(field.value, 0x8000000000000001U);
  EXPECT_FALSE(take_field(message, field));
}

TEST(ChakraWire, WhatIsPutIsTaken) {
  std::string bytes;
  put_number(bytes, 100, 7);
  put_bytes(bytes, 3, "text");
  std::string_view message = bytes;
  Field field;
  ASSERT_TRUE(take_field(message, field));
  EXPECT_EQ(field.number, 100U);
  EXPECT_EQ(field.value, 7U);
  ASSERT_TRUE(take_field(message, field));
  EXPECT_EQ(field.bytes, "text");
  EXPECT_TRUE(message.empty());
}

TEST(ChakraWire, WhatIsNoMessageIsSaidSo) {
  EXPECT_THAT(problem_of("\x08\x80"), HasSubstr("ends in the middle of a number"));
  EXPECT_THAT(problem_of("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),
              HasSubstr("more than 64 bits"));
  EXPECT_THAT(problem_of("\x1d\x01\x02"), HasSubstr("ends in the middle of a number"));
  EXPECT_THAT(problem_of("\x12\x05"
                         "abc"),
              HasSubstr("field 2 says it has 5 bytes, but only 3 are left"));
  EXPECT_THAT(problem_of("\x0b"), HasSubstr("field 1 has the wire type 3"));
  EXPECT_THAT(problem_of("\x0f"), HasSubstr("wire type 7"));
  EXPECT_THAT(problem_of("\x02\x00"s), HasSubstr("field number 0"));
}

}  // namespace
}  // namespace prism::chakra
