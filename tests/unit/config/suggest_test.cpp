// SPDX-License-Identifier: Apache-2.0
#include "core/config/suggest.hpp"

#include <array>
#include <gtest/gtest.h>

namespace prism::config {
namespace {

TEST(Suggest, DistanceCountsSwapsOnce) {
  EXPECT_EQ(edit_distance("sandbox", "sandbox", 9), 0u);
  EXPECT_EQ(edit_distance("sandbxo", "sandbox", 9), 1u);
  EXPECT_EQ(edit_distance("sandbx", "sandbox", 9), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting", 9), 3u);
  EXPECT_EQ(edit_distance("", "abc", 9), 3u);
  EXPECT_EQ(edit_distance("ca", "abc", 9), 3u);  // no edit inside a swapped pair
  EXPECT_EQ(edit_distance("abc", "xyz", 1), 2u);
}

TEST(Suggest, NearestWithinAThirdOfTheLength) {
  constexpr std::array<std::string_view, 3> kNames = {"latency", "bandwidth", "match"};
  EXPECT_EQ(nearest("bandwith", kNames), "bandwidth");
  EXPECT_EQ(nearest("latncy", kNames), "latency");
  EXPECT_EQ(nearest("mtach", kNames), "match");
  EXPECT_EQ(nearest("speed", kNames), "");
  EXPECT_EQ(nearest("x", std::array<std::string_view, 1>{"y"}), "");
}

TEST(Suggest, ListsChoicesOnlyWhenThereAreFew) {
  constexpr std::array<std::string_view, 2> kFew = {"gloo", "nccl"};
  EXPECT_EQ(suggestion("glo", kFew), "did you mean 'gloo'?");
  EXPECT_EQ(suggestion("mpi", kFew), "choose from gloo, nccl");
  constexpr std::array<std::string_view, 10> kMany = {"aa", "bb", "cc", "dd", "ee",
                                                      "ff", "gg", "hh", "ii", "jj"};
  EXPECT_EQ(suggestion("something", kMany), "");
}

}  // namespace
}  // namespace prism::config
