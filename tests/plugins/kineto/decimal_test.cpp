// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/kineto/decimal.hpp"

#include <gtest/gtest.h>

namespace prism::kineto {
namespace {

TEST(Decimal, KeepsEveryNanosecond) {
  EXPECT_EQ(nanoseconds("1764432000333429.079"), 1764432000333429079);
  EXPECT_EQ(nanoseconds("1.001"), 1001);
  EXPECT_EQ(nanoseconds("0"), 0);
  EXPECT_EQ(nanoseconds("68.0"), 68000);
  EXPECT_EQ(nanoseconds("-2.5"), -2500);
}

TEST(Decimal, RoundsWhatIsFiner) {
  EXPECT_EQ(nanoseconds("1.0004"), 1000);
  EXPECT_EQ(nanoseconds("1.0005"), 1001);
  EXPECT_EQ(nanoseconds("-1.0005"), -1001);
  EXPECT_EQ(nanoseconds("0.99999999999999999999999999"), 1000);
}

TEST(Decimal, KnowsExponents) {
  EXPECT_EQ(nanoseconds("1.5e3"), 1500000);
  EXPECT_EQ(nanoseconds("15E-1"), 1500);
  EXPECT_EQ(nanoseconds("1e+2"), 100000);
  EXPECT_EQ(nanoseconds("1e-2000000000"), 0);
  EXPECT_EQ(nanoseconds("0e2000000000"), 0);
}

TEST(Decimal, RefusesWhatIsNoNumberOrTooLarge) {
  for (const char* text :
       {"", "-", "NaN", "Infinity", "inf", "1.", ".5", "1e", "1x", "1 ", "0x10",
        "9223372036854775.808", "1e30", "99999999999999999999999", "1e99999999999"}) {
    EXPECT_EQ(nanoseconds(text), std::nullopt) << text;
  }
  EXPECT_EQ(nanoseconds("9223372036854775.807"), INT64_MAX);
}

TEST(Decimal, KnowsNumbersOfAnySize) {
  for (const char* text : {"0", "-1.5", "9223372036854775.807", "1e99999999999", "1.5E+30"}) {
    EXPECT_TRUE(is_number(text)) << text;
  }
  for (const char* text : {"", "-", "NaN", "1.", ".5", "1e", "1e+", "1x", "1 "}) {
    EXPECT_FALSE(is_number(text)) << text;
  }
}

}  // namespace
}  // namespace prism::kineto
