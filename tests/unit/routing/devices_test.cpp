// SPDX-License-Identifier: Apache-2.0
#include "prism/routing/devices.hpp"

#include <gtest/gtest.h>
#include <set>
#include <vector>

#include "tests/unit/routing/samples.hpp"

namespace prism::routing {
namespace {

TEST(TokensPerDevice, AgainstCountingTokenByToken) {
  sdk::Random random(8);
  for (int i = 0; i < 200; ++i) {
    const auto per_device = static_cast<uint32_t>(1 + random.below(5));
    const auto device_count = static_cast<uint32_t>(1 + random.below(9));
    Shape shape{random.below(50), per_device * device_count, 1};
    shape.top_k = static_cast<uint32_t>(1 + random.below(shape.experts));
    const std::vector<uint32_t> experts = assigned(shape, skewed_counts(shape, 1), random());
    std::vector<DeviceTokens> devices(device_count, DeviceTokens{77, 77});
    ASSERT_EQ(tokens_per_device(shape, experts, devices), "");
    for (uint32_t d = 0; d < device_count; ++d) {
      uint64_t copies = 0;
      std::set<size_t> tokens;
      for (size_t slot = 0; slot < experts.size(); ++slot) {
        if (experts[slot] >= d * per_device && experts[slot] < (d + 1) * per_device) {
          ++copies;
          tokens.insert(slot / shape.top_k);
        }
      }
      ASSERT_EQ(devices[d].copies, copies);
      ASSERT_EQ(devices[d].tokens, tokens.size());
    }
  }
}

TEST(TokensPerDevice, Errors) {
  std::vector<DeviceTokens> devices(3);
  EXPECT_EQ(tokens_per_device({1, 8, 1}, std::vector<uint32_t>{0}, devices),
            "8 experts cannot be laid out evenly over 3 devices; use a number that divides the "
            "experts");
  EXPECT_EQ(tokens_per_device({1, 8, 1}, std::vector<uint32_t>{0}, {}),
            "8 experts cannot be laid out evenly over 0 devices; use a number that divides the "
            "experts");
  EXPECT_EQ(tokens_per_device({2, 9, 1}, std::vector<uint32_t>{0}, devices),
            "the assignment has 1 numbers, not 2");
}

}  // namespace
}  // namespace prism::routing
