// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/period.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace prism::calibrate {
namespace {

using graph::Kind;
using testing::ElementsAre;

/// One rank that does computations ("c", "o" in the phase "optimizer") and all-reduces of a size of
/// as many bytes as the digit says.
Observation observed(const std::vector<std::string>& ranks) {
  Observation result;
  result.world_size = static_cast<uint32_t>(ranks.size());
  for (const std::string& work : ranks) {
    ObservedRank& rank = result.ranks.emplace_back();
    rank.program.texts = {"optimizer"};
    rank.program.communicators.resize(1);
    for (const char c : work) {
      graph::Node& node = rank.program.nodes.emplace_back();
      graph::Labels& labels = rank.program.labels.emplace_back();
      if (c == 'o') {
        labels.phase = 0;
      } else if (c != 'c') {
        node.kind = Kind::AllReduce;
        node.communicator = 0;
        node.input_bytes = node.output_bytes = static_cast<uint64_t>(c - '0');
      }
    }
  }
  return result;
}

std::vector<uint32_t> iterations(const ObservedRank& rank) {
  std::vector<uint32_t> result;
  for (const graph::Node& node : rank.program.nodes) {
    result.push_back(node.iteration);
  }
  return result;
}

TEST(Period, IterationsEndWithTheirLastOptimizerNode) {
  Observation job = observed({"c12occ12oc", "c12c12"});
  EXPECT_EQ(number_iterations_by_period(job), 2U);
  EXPECT_THAT(iterations(job.ranks[0]), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1, 1, 1));
  EXPECT_THAT(iterations(job.ranks[1]), ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_EQ(job.ranks[0].program.iterations, 2U);
}

TEST(Period, LayersOfAnIterationAreNoIterations) {
  Observation job = observed({"11119", "22229"});
  EXPECT_EQ(number_iterations_by_period(job), 1U);
}

TEST(Period, RanksHaveToAgree) {
  Observation job = observed({"121212", "1212"});
  EXPECT_EQ(number_iterations_by_period(job), 1U);
  EXPECT_EQ(number_iterations_by_period(job = observed({"1212", "34343434"})), 2U);
}

TEST(Period, WhatBeginsInTheMiddleHasNone) {
  Observation job = observed({"21212"});
  EXPECT_EQ(number_iterations_by_period(job), 1U);
}

TEST(Period, WithoutCommunicationThereIsNone) {
  Observation job = observed({"12", "cc"});
  EXPECT_EQ(number_iterations_by_period(job), 1U);
}

}  // namespace
}  // namespace prism::calibrate
