// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/validate.hpp"
#include "tests/unit/graph/programs.hpp"

namespace prism::graph::test {
namespace {

using testing::HasSubstr;

std::string error(const Program& program) {
  return validate(program).to_string();
}

Program small() {
  Rig rig(0, 2);
  const uint32_t world = rig.group("world", {0, 1});
  const uint32_t a = rig.compute(10);
  Collective all_reduce{Kind::AllReduce, world};
  const uint32_t b = rig.builder.add_collective(rig.comm, all_reduce, {a});
  rig.builder.add_transfer(rig.cpu, b);
  rig.collective(Kind::Broadcast, world, 8, 1);
  rig.message(Kind::Send, world, 1);
  return rig.finish();
}

TEST(Builder, NumbersNodesCollectivesAndCreations) {
  Rig rig(2, 4);
  EXPECT_EQ(rig.group("x", {0, 1}), kNone);
  const uint32_t first = rig.group("x", {2, 3});
  const uint32_t second = rig.group("x", {2, 3});
  rig.collective(Kind::AllReduce, first);
  rig.collective(Kind::AllReduce, second);
  rig.builder.next_iteration();
  rig.collective(Kind::Barrier, first);
  const Program program = rig.finish();
  EXPECT_EQ(program.communicators[0].nth, 0U);
  EXPECT_EQ(program.communicators[0].creation, 1U);
  EXPECT_EQ(program.communicators[1].nth, 1U);
  EXPECT_EQ(program.others[0].creation, 0U);
  EXPECT_EQ(program.nodes[0].sequence, 0U);
  EXPECT_EQ(program.nodes[1].sequence, 0U);
  EXPECT_EQ(program.nodes[2].sequence, 1U);
  EXPECT_EQ(program.nodes[2].iteration, 1U);
  EXPECT_EQ(program.iterations, 2U);
  EXPECT_TRUE(validate(program).ok());
}

TEST(Validate, AcceptsWhatTheBuilderMakes) {
  EXPECT_TRUE(validate(small()).ok()) << error(small());
}

TEST(Validate, NamesWhatIsWrong) {
  const auto broken = [](auto&& change) {
    Program program = small();
    change(program);
    return error(program);
  };
  EXPECT_THAT(broken([](Program& p) { p.nodes[0].duration = -1; }),
              HasSubstr("rank 0: lane cpu:0, node 0 (compute) has a negative duration"));
  EXPECT_THAT(broken([](Program& p) { p.parts[0].duration = -1; }),
              HasSubstr("node 4 (send of 64 bytes float32 to rank 1, tag 0, on 'world') has a "
                        "negative duration"));
  EXPECT_THAT(broken([](Program& p) { p.nodes[3].root = 2; }), HasSubstr("group position 2"));
  EXPECT_THAT(broken([](Program& p) { p.parts[0].peer = -3; }), HasSubstr("group position -3"));
  EXPECT_THAT(broken([](Program& p) { p.nodes[3].sequence = 7; }), HasSubstr("out of sequence"));
  EXPECT_THAT(broken([](Program& p) { p.nodes[1].communicator = 5; }),
              HasSubstr("unknown communicator"));
  EXPECT_THAT(broken([](Program& p) { p.nodes[1].lane = 9; }), HasSubstr("unknown lane"));
  EXPECT_THAT(broken([](Program& p) { p.nodes[2].of = 0; }), HasSubstr("no earlier communication"));
  EXPECT_THAT(broken([](Program& p) { p.nodes[1].dependency_count = 100; }),
              HasSubstr("no valid dependencies"));
  EXPECT_THAT(broken([](Program& p) { p.nodes[4].part_count = 3; }), HasSubstr("no valid parts"));
  EXPECT_THAT(broken([](Program& p) { p.nodes[4].kind = Kind::Recv; }),
              HasSubstr("parts of the wrong kind"));
  EXPECT_THAT(broken([](Program& p) { p.iterations = 0; }), HasSubstr("iteration 0 of 0"));
  EXPECT_THAT(broken([](Program& p) { p.communicators[0].ranks = {1}; }),
              HasSubstr("does not contain it"));
  EXPECT_THAT(broken([](Program& p) { p.communicators[0].ranks = {0, 0}; }), HasSubstr("twice"));
  EXPECT_THAT(broken([](Program& p) {
                p.communicators[0].ranks = {0, 2};
              }),
              HasSubstr("rank 2 of a world of 2"));
}

TEST(Validate, PrintsACircleInsideARank) {
  Program program = small();
  // The all-reduce (node 1) waits for its own transfer (node 2).
  program.dependencies[program.nodes[1].first_dependency] = 2;
  EXPECT_THAT(error(program),
              HasSubstr("its nodes wait for each other in a circle:\n"
                        "  lane cpu:0, node 2 (transfer of node 1) is waited for by\n"
                        "  lane comm:0, node 1 (all_reduce 0 on 'world', other, 0 bytes)"));
}

TEST(Validate, PrintsADependencyOnALaterNodeThatIsNoCircle) {
  Program program = small();
  program.nodes[0].first_dependency = static_cast<uint32_t>(program.dependencies.size());
  program.nodes[0].dependency_count = 1;
  program.dependencies.push_back(1);
  program.nodes[1].dependency_count = 0;
  EXPECT_THAT(error(program), HasSubstr("node 0 (compute) depends on a node that is recorded after "
                                        "it: lane comm:0, node 1"));
}

}  // namespace
}  // namespace prism::graph::test
