// SPDX-License-Identifier: Apache-2.0
#include "core/config/quantity.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace prism::config {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

int64_t good(Quantity quantity, std::string_view text) {
  auto parsed = parse_quantity(quantity, text);
  const int64_t* value = std::get_if<int64_t>(&parsed);
  EXPECT_NE(value, nullptr) << text << ": " << std::get<QuantityProblem>(parsed).message;
  return value != nullptr ? *value : -1;
}

std::string bad(Quantity quantity, std::string_view text) {
  auto parsed = parse_quantity(quantity, text);
  const auto* problem = std::get_if<QuantityProblem>(&parsed);
  EXPECT_NE(problem, nullptr) << text << " was read as " << std::get<int64_t>(parsed);
  if (problem == nullptr) {
    return "";
  }
  EXPECT_LE(problem->begin, problem->end);
  EXPECT_LE(problem->end, text.size());
  return problem->message + (problem->hint.empty() ? "" : "; " + problem->hint);
}

TEST(Quantity, DurationsAreExactNanoseconds) {
  EXPECT_EQ(good(Quantity::Duration, "25 us"), 25'000);
  EXPECT_EQ(good(Quantity::Duration, "3ms"), 3'000'000);
  EXPECT_EQ(good(Quantity::Duration, "10 min"), 600'000'000'000);
  EXPECT_EQ(good(Quantity::Duration, "0 s"), 0);
  EXPECT_EQ(good(Quantity::Duration, "1.5 h"), 5'400'000'000'000);
  EXPECT_EQ(good(Quantity::Duration, "0.000000001 s"), 1);
  EXPECT_EQ(good(Quantity::Duration, "0.1 us"), 100);
  EXPECT_EQ(good(Quantity::Duration, "007.50 us"), 7'500);
  EXPECT_EQ(good(Quantity::Duration, "1.0000000000000000000000 ns"), 1);
}

TEST(Quantity, BytesAndBandwidths) {
  EXPECT_EQ(good(Quantity::Bytes, "16 MiB"), 16 << 20);
  EXPECT_EQ(good(Quantity::Bytes, "4 GB"), 4'000'000'000);
  EXPECT_EQ(good(Quantity::Bytes, "1.5 KiB"), 1536);
  EXPECT_EQ(good(Quantity::Bandwidth, "12.5 GB/s"), 12'500'000'000);
  EXPECT_EQ(good(Quantity::Bandwidth, "100 Gbit/s"), 12'500'000'000);
  EXPECT_EQ(good(Quantity::Bandwidth, "8 bit/s"), 1);
  EXPECT_EQ(good(Quantity::Bandwidth, "0.008 kbit/s"), 1);
  EXPECT_EQ(good(Quantity::Bandwidth, "1 GiB/s"), int64_t{1} << 30);
}

TEST(Quantity, TheLargestValueFitsAndOneMoreDoesNot) {
  EXPECT_EQ(good(Quantity::Duration, "9223372036854775807 ns"), kMax);
  EXPECT_EQ(good(Quantity::Duration, "9223372036.854775807 s"), kMax);
  EXPECT_EQ(bad(Quantity::Duration, "9223372036854775808 ns"),
            "\"9223372036854775808 ns\" is too large: at most 9223372036854775807 ns");
  EXPECT_EQ(bad(Quantity::Duration, "9223372036.854775808 s"),
            "\"9223372036.854775808 s\" is too large: at most 9223372036854775807 ns");
  // 2^64 and 2^128 of the base unit would wrap to 0.
  EXPECT_NE(bad(Quantity::Bytes, "16384 PiB"), "");
  EXPECT_NE(bad(Quantity::Bytes, "340282366920938463463374607431768211456 B"), "");
  EXPECT_NE(bad(Quantity::Bytes, std::string(5000, '9') + " PiB"), "");
}

TEST(Quantity, NothingIsRounded) {
  EXPECT_EQ(bad(Quantity::Duration, "0.5 ns"), "\"0.5 ns\" is not a whole number of ns");
  EXPECT_EQ(bad(Quantity::Bandwidth, "1 bit/s"), "\"1 bit/s\" is not a whole number of B/s");
  EXPECT_EQ(bad(Quantity::Duration, "0.0000000000000000001 d"),
            "\"0.0000000000000000001 d\" has too many decimals");
}

TEST(Quantity, MistakesAreNamed) {
  EXPECT_EQ(bad(Quantity::Duration, "10"),
            "\"10\" has no unit; write a duration such as \"25 us\"");
  EXPECT_EQ(bad(Quantity::Duration, "10 sec"),
            "unknown unit 'sec' in \"10 sec\"; the units are ns, us, ms, s, min, h, d");
  EXPECT_EQ(bad(Quantity::Duration, "10 MS"), "unknown unit 'MS' in \"10 MS\"; did you mean 'ms'?");
  EXPECT_EQ(bad(Quantity::Bytes, "1 KB"),
            "unknown unit 'KB' in \"1 KB\"; write kB (1000) or KiB (1024)");
  EXPECT_EQ(bad(Quantity::Bytes, "0.1 GiBi"),
            "unknown unit 'GiBi' in \"0.1 GiBi\"; did you mean 'GiB'?");
  EXPECT_EQ(bad(Quantity::Duration, "-1 s"), "\"-1 s\" is negative");
  for (std::string_view text : {"", " ", "s", "us 25", "1. s", ".5 s", "+1 s", "1,5 s", "1e3 s",
                                "0x10 s", "1 s 2 ms", "inf", "nan s", "1\ts", "١ s"}) {
    EXPECT_NE(bad(Quantity::Duration, text), "") << text;
  }
}

TEST(Quantity, WritesTheLargestExactUnit) {
  EXPECT_EQ(format_quantity(Quantity::Duration, 0), "0 ns");
  EXPECT_EQ(format_quantity(Quantity::Duration, 25'000), "25 us");
  EXPECT_EQ(format_quantity(Quantity::Duration, 1'500'000'000), "1.5 s");
  EXPECT_EQ(format_quantity(Quantity::Duration, 600'000'000'000), "10 min");
  EXPECT_EQ(format_quantity(Quantity::Duration, 1'000'001), "1000.001 us");
  EXPECT_EQ(format_quantity(Quantity::Bytes, 16 << 20), "16 MiB");
  EXPECT_EQ(format_quantity(Quantity::Bytes, 4'000'000'000), "4 GB");
  EXPECT_EQ(format_quantity(Quantity::Bandwidth, 12'500'000'000), "12.5 GB/s");
}

TEST(Quantity, WhatIsWrittenReadsBack) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    auto value = static_cast<int64_t>(random() >> (1 + random() % 63));
    if (i % 2 == 0) {
      value -= value % 1'000;
    }
    for (Quantity quantity : {Quantity::Duration, Quantity::Bytes, Quantity::Bandwidth}) {
      ASSERT_EQ(good(quantity, format_quantity(quantity, value)), value);
    }
  }
}

}  // namespace
}  // namespace prism::config
