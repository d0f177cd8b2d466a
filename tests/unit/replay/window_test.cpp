// SPDX-License-Identifier: Apache-2.0
#include "core/replay/window.hpp"

#include <gtest/gtest.h>

namespace prism::replay {
namespace {

TEST(Window, KeepsWhatIsOpenWhileItGrowsAndMoves) {
  Window<int> window;
  const auto done = [](int value) { return value < 0; };
  int oldest = 0;
  for (int n = 0; n < 1000; ++n) {
    window.open(static_cast<uint32_t>(n)) = n + 1;
    if (n % 3 == 2) {  // twice as many come in as leave
      window[static_cast<uint32_t>(oldest++)] = -1;
      window.drop_front(done);
    }
  }
  for (int n = oldest; n < 1000; ++n) {
    ASSERT_EQ(window[static_cast<uint32_t>(n)], n + 1);
  }
}

TEST(Window, OpensEntriesInBetween) {
  Window<int> window;
  window.open(5) = 7;
  EXPECT_EQ(window[0], 0);
  EXPECT_EQ(window[5], 7);
  window[0] = -1;
  window.drop_front([](int value) { return value < 0; });
  EXPECT_EQ(window.open(8), 0) << "a place that was used before is empty again";
}

}  // namespace
}  // namespace prism::replay
