// SPDX-License-Identifier: Apache-2.0
#include "core/schedule/core_usage.hpp"

#include <gtest/gtest.h>

namespace prism::schedule {
namespace {

constexpr int64_t kTicks = 100;
constexpr DurationNs kTick = 10'000'000;
constexpr std::string_view kStat =
    "cpu  1000 200 300 9000 50 60 70 80 0 0\n"
    "cpu0 10 2 3 90 5 6 7 8 0 0\n"
    "cpu1 20 4 6 180 10 12 14 16 0 0\n"
    "cpu10 700 0 0 0 0 0 0 0 0 0\n"
    "intr 12345 1 2 3\n";

TEST(CoreUsage, AddsUpTheCoresThatAreAskedFor) {
  const Result<CoreTime> time = core_time(kStat, {0, 1}, kTicks);
  ASSERT_TRUE(time.ok());
  EXPECT_EQ(time->programs, (10 + 2 + 3 + 20 + 4 + 6) * kTick);
  EXPECT_EQ(time->stolen, (8 + 16) * kTick);
}

TEST(CoreUsage, CountsACoreOnceThatSeveralRanksShare) {
  const Result<CoreTime> time = core_time(kStat, {1, 1, 1}, kTicks);
  ASSERT_TRUE(time.ok());
  EXPECT_EQ(time->stolen, 16 * kTick);
}

TEST(CoreUsage, NothingIsStolenWhereTheKernelDoesNotCountIt) {
  const Result<CoreTime> time = core_time("cpu0 1 2 3 4\n", {0}, kTicks);
  ASSERT_TRUE(time.ok());
  EXPECT_EQ(time->programs, 6 * kTick);
  EXPECT_EQ(time->stolen, 0);
}

TEST(CoreUsage, ACoreThatIsNotThereIsAnError) {
  EXPECT_FALSE(core_time(kStat, {0, 2}, kTicks).ok());
  EXPECT_FALSE(core_time("", {0}, kTicks).ok());
}

TEST(CoreUsage, SharesAreOfAllSpansTogether) {
  CoreUsage total;
  EXPECT_EQ(total.stolen_share(), 0);
  total += {.wanted = 100, .stolen = 10, .others = 0};
  total += {.wanted = 300, .stolen = 10, .others = 100};
  EXPECT_DOUBLE_EQ(total.stolen_share(), 0.05);
  EXPECT_DOUBLE_EQ(total.others_share(), 0.25);
}

}  // namespace
}  // namespace prism::schedule
