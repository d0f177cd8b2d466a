// SPDX-License-Identifier: Apache-2.0
#include "core/replay/lateness.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace prism::replay {
namespace {

TEST(Lateness, QuantilesAreAtMostOneStepTooLarge) {
  Lateness lateness;
  EXPECT_EQ(lateness.quantile(0.5), 0);
  for (DurationNs late = 1; late <= 100'000; ++late) {
    lateness.add(late);
  }
  for (const double q : {0.01, 0.5, 0.9, 0.99, 0.999}) {
    const double exact = q * 100'000;
    EXPECT_GE(static_cast<double>(lateness.quantile(q)), exact);
    EXPECT_LE(static_cast<double>(lateness.quantile(q)), exact * 17 / 16);
  }
  EXPECT_EQ(lateness.quantile(1), 100'000);
  EXPECT_EQ(lateness.max(), 100'000);
  EXPECT_EQ(lateness.count(), 100'000U);
}

TEST(Lateness, SmallOnesAreExactAndLargeOnesFit) {
  Lateness lateness;
  lateness.add(-5);
  EXPECT_EQ(lateness.quantile(1), 0);
  lateness.add(31);
  EXPECT_EQ(lateness.quantile(0.5), 0);
  EXPECT_EQ(lateness.quantile(0.51), 31);
  lateness.add(std::numeric_limits<DurationNs>::max());
  EXPECT_EQ(lateness.quantile(1), std::numeric_limits<DurationNs>::max());
}

}  // namespace
}  // namespace prism::replay
