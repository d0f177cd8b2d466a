// SPDX-License-Identifier: Apache-2.0
// The guard does not trust the bytes of a launch request.
#include <cstring>
#include <gtest/gtest.h>
#include <random>

#include "plugins/launchers/local/launch_request.hpp"

namespace prism::local {
namespace {

LaunchRequest example() {
  return {"/tmp", {"sh", "", "-c x"}, {"A=1", "B="}, {0, 5}, {3, 9, 4}};
}

TEST(LaunchRequest, SurvivesTheWay) {
  const auto decoded = decode(encode(example()));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->cwd, "/tmp");
  EXPECT_EQ(decoded->argv, example().argv);
  EXPECT_EQ(decoded->env, example().env);
  EXPECT_EQ(decoded->cores, example().cores);
  EXPECT_EQ(decoded->fd_targets, example().fd_targets);
}

TEST(LaunchRequest, IsRefusedWhenCutOrTooLong) {
  const std::string bytes = encode(example());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode(std::string_view(bytes).substr(0, size))) << size;
  }
  EXPECT_FALSE(decode(bytes + '\0'));
  EXPECT_FALSE(decode(std::string(kMaxLaunchBytes + 1, '\0')));
}

TEST(LaunchRequest, IsRefusedWithWrongCounts) {
  for (size_t field = 0; field < 4; ++field) {
    for (const uint32_t count : {0U, 1U, 1000U, 0x7fffffffU, 0xffffffffU}) {
      std::string bytes = encode(example());
      std::memcpy(bytes.data() + field * sizeof(count), &count, sizeof(count));
      EXPECT_FALSE(decode(bytes)) << field << " " << count;
    }
  }
}

TEST(LaunchRequest, DoesNotCrashOnDamage) {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): repeatable
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = encode(example());
    for (int i = 0; i < 3; ++i) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (const auto decoded = decode(bytes)) {
      EXPECT_FALSE(decoded->argv.empty());
    }
  }
}

}  // namespace
}  // namespace prism::local
