// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/observation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace prism::calibrate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Observe : public testing::Test {
 protected:
  void begin(Rank rank) {
    ASSERT_TRUE(builder_.begin_rank(rank, 0, "r" + std::to_string(rank) + ".json").ok());
    ASSERT_TRUE(builder_.add_lane(graph::LaneKind::Stream, "stream:7").ok());
  }
  static ObservedNode node(TimeNs start, TimeNs end, int32_t iteration = -1) {
    ObservedNode node;
    node.span = {start, end};
    node.iteration = iteration;
    return node;
  }
  std::string refusal(const ObservedNode& node) {
    return std::string(builder_.add_node(node).status().message());
  }
  ObservationBuilder builder_;
};

TEST_F(Observe, RefusesWhatCannotBe) {
  begin(0);
  ASSERT_TRUE(builder_.add_node(node(10, 20)).ok());
  EXPECT_THAT(refusal(node(30, 25)),
              HasSubstr("r0.json, rank 0, node 1: it ends before it starts"));
  EXPECT_THAT(refusal(node(19, 25)), HasSubstr("on lane 'stream:7' has ended"));
  ObservedNode other = node(30, 40);
  other.lane = 3;
  EXPECT_THAT(refusal(other), HasSubstr("lane 3 of 1"));
  other = node(30, 40);
  other.kind = graph::Kind::AllReduce;
  EXPECT_THAT(refusal(other), HasSubstr("without a communicator"));
  other.kind = graph::Kind::Send;
  EXPECT_THAT(refusal(other), HasSubstr("without parts"));
  other = node(30, 40);
  other.dependencies = {7};
  EXPECT_THAT(refusal(other), HasSubstr("depends on node 7"));
  EXPECT_THAT(std::string(builder_.begin_rank(0, 0, "again.json").message()),
              HasSubstr("rank 0 is in r0.json and in again.json"));
}

TEST_F(Observe, NamesRanksThatAreMissing) {
  begin(0);
  ASSERT_TRUE(builder_.add_node(node(0, 1)).ok());
  begin(3);
  const Observation observation = std::move(builder_).finish().value();
  EXPECT_THAT(std::string(check_complete(observation).message()),
              HasSubstr("shows 2 ranks of a world of 4; missing are 1 2"));
}

TEST_F(Observe, RefusesATraceWithoutWork) {
  begin(0);
  const Result<Observation> observation = std::move(builder_).finish();
  ASSERT_FALSE(observation.ok());
  EXPECT_THAT(std::string(observation.status().message()), HasSubstr("shows no work"));
}

TEST_F(Observe, RefusesTimesThatNothingCanBeMeasuredAgainst) {
  begin(0);
  constexpr TimeNs kFar = std::numeric_limits<TimeNs>::max();
  EXPECT_THAT(refusal(node(0, kFar)), HasSubstr("its time cannot be right"));
  EXPECT_THAT(refusal(node(-kFar, 0)), HasSubstr("its time cannot be right"));
}

TEST_F(Observe, CutsOneIterationOut) {
  begin(0);
  graph::Communicator world{"world", "", "nccl", {0}};
  ASSERT_TRUE(builder_.add_communicator(world).ok());
  ASSERT_TRUE(builder_.add_node(node(0, 1)).ok());  // of no iteration
  for (int32_t iteration = 4; iteration < 7; ++iteration) {
    const TimeNs at = 10 * iteration;
    ObservedNode compute = node(at, at + 2, iteration);
    compute.name = "gemm";
    compute.micro_batch = iteration;
    const uint32_t first = *builder_.add_node(compute);
    ObservedNode reduce = node(at + 2, at + 5, iteration);
    reduce.kind = graph::Kind::AllReduce;
    reduce.communicator = 0;
    reduce.dependencies = {0, first};
    ASSERT_TRUE(builder_.add_node(reduce).ok());
  }
  const Observation all = std::move(builder_).finish().value();
  const Iterations iterations(all);
  EXPECT_THAT(iterations.numbers(), ElementsAre(4, 5, 6));
  const Observation one = iterations.cut(5);
  const graph::Program& program = one.ranks[0].program;
  ASSERT_EQ(program.nodes.size(), 2U);
  EXPECT_EQ(one.ranks[0].nodes[0].start, 50);
  EXPECT_EQ(program.labels[0].micro_batch, 5);
  EXPECT_EQ(program.texts[program.labels[0].name], "gemm");
  EXPECT_EQ(program.nodes[1].sequence, 0U);
  EXPECT_THAT(program.dependencies, ElementsAre(0)) << "only what is in the cut";
  EXPECT_EQ(program.iterations, 1U);
}

}  // namespace
}  // namespace prism::calibrate
