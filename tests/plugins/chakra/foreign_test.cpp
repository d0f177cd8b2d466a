// SPDX-License-Identifier: Apache-2.0
// Traces of other tools: what they become, where, and when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugins/chakra/trace_bytes.hpp"

namespace prism::chakra::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

NodeBytes send(uint64_t id, int64_t to, int64_t bytes = 64) {
  return NodeBytes(id, "send", NodeType::Send)
      .integer(attribute::kDestination, to)
      .integer(attribute::kTag, 5)
      .integer(attribute::kSize, bytes);
}
NodeBytes recv(uint64_t id, int64_t from, int64_t bytes = 64) {
  return NodeBytes(id, "recv", NodeType::Recv)
      .integer(attribute::kSource, from)
      .integer(attribute::kTag, 5)
      .integer(attribute::kSize, bytes);
}

TEST(ChakraForeign, NodesWithoutTimesStartAsEarlyAsDependenciesAllow) {
  const Imported trace({TraceBytes()
                            .add(computation(0, "a").number(node_field::kDuration, 10))
                            .add(on_cpu(1, "b").number(node_field::kDuration, 4))
                            .add(on_cpu(2, "c").data({0}).number(node_field::kDuration, 1))
                            .add(on_cpu(3, "d").number(node_field::kDuration, 1))});
  EXPECT_EQ(trace.node("a").c.start_ns, 0);
  EXPECT_EQ(trace.node("b").c.start_ns, 0);
  EXPECT_EQ(trace.node("b").c.end_ns, 4000);
  EXPECT_EQ(trace.node("c").c.start_ns, 10000) << "after a";
  EXPECT_EQ(trace.node("d").c.start_ns, 11000) << "after c, which is before it on the lane";
  EXPECT_THAT(trace.notes(), ElementsAre(HasSubstr("1 files tell no start times")));
}

TEST(ChakraForeign, TimesAreThoseOfTheTrace) {
  const Imported trace({TraceBytes()
                            .add(on_cpu(0, "a").times(0, 400))
                            .add(on_cpu(1, "b").data({0}).times(400, 800))
                            .add(on_cpu(2, "c").data({1}).times(1300, 0))});
  EXPECT_EQ(trace.node("a").c.start_ns, 0) << "0 is a time where the trace begins there";
  EXPECT_EQ(trace.node("b").c.start_ns, 400'000);
  EXPECT_EQ(trace.node("b").c.end_ns, 1'200'000);
  EXPECT_EQ(trace.node("c").c.start_ns, 1'300'000);
  EXPECT_THAT(trace.needs(trace.node("c")), ElementsAre("b"));
  EXPECT_THAT(trace.notes(), ElementsAre());
}

TEST(ChakraForeign, ANodeWithoutATimeAmongOthersIsPutWhereItsDependenciesEnd) {
  const uint64_t epoch = 1'700'000'000'000'000;
  const Imported trace({TraceBytes()
                            .add(on_cpu(0, "a").times(epoch, 10))
                            .add(computation(1, "without").data({0}))
                            .add(computation(2, "first"))});
  EXPECT_EQ(trace.node("without").c.start_ns, static_cast<int64_t>(epoch + 10) * 1000);
  EXPECT_EQ(trace.node("first").c.start_ns, static_cast<int64_t>(epoch) * 1000);
}

TEST(ChakraForeign, RoundingIsTakenForNoContradiction) {
  const Imported trace(
      {TraceBytes().add(on_cpu(0, "a").times(10, 10)).add(on_cpu(1, "b").data({0}).times(19, 5))});
  EXPECT_THAT(trace.needs(trace.node("b")), ElementsAre("a"));
  EXPECT_EQ(trace.node("b").c.start_ns, 20'000);
  EXPECT_EQ(trace.node("b").c.end_ns, 24'000);
  EXPECT_EQ(trace.rank().lanes.size(), 1U);
}

TEST(ChakraForeign, WhatOverlapsIsOnAFurtherLane) {
  const Imported trace({TraceBytes()
                            .add(on_cpu(0, "outer").times(10, 100))
                            .add(on_cpu(1, "inner").control(0).times(20, 10))
                            .add(on_cpu(2, "after").times(110, 10))});
  EXPECT_THAT(trace.needs(trace.node("inner")), ElementsAre());
  EXPECT_EQ(trace.lane(trace.node("outer")), "cpu");
  EXPECT_EQ(trace.lane(trace.node("inner")), "cpu 2");
  EXPECT_EQ(trace.lane(trace.node("after")), "cpu");
  EXPECT_THAT(trace.notes(), ElementsAre(HasSubstr("1 dependencies are left out"),
                                         HasSubstr("1 nodes overlap others")));
}

TEST(ChakraForeign, LanesAreThreadsStreamsGroupsAndPeers) {
  const Imported trace(
      {TraceBytes()
           .add(on_cpu(0, "operation").integer(attribute::kThread, 3))
           .add(computation(1, "kernel").integer(attribute::kStream, 20))
           .add(computation(2, "other kernel"))
           .add(collective(3, CollectiveType::AllReduce, 8))
           .add(send(4, 1))
           .add(NodeBytes(5, "load", NodeType::MemoryLoad)),
       TraceBytes().add(collective(3, CollectiveType::AllReduce, 8)).add(recv(4, 0))});
  ASSERT_EQ(trace.error(), "");
  EXPECT_EQ(trace.lane(trace.node("operation")), "cpu:3");
  EXPECT_EQ(trace.lane(trace.node("kernel")), "stream:20");
  EXPECT_EQ(trace.lane(trace.node("other kernel")), "stream");
  EXPECT_EQ(trace.lane(trace.node("collective")), "comm:all ranks");
  EXPECT_EQ(trace.lane(trace.node("send")), "send:1");
  EXPECT_EQ(trace.lane(trace.node("recv", 1), 1), "recv:0");
  EXPECT_EQ(trace.lane(trace.node("load")), "memory");
  EXPECT_EQ(trace.rank().lanes[trace.node("kernel").c.lane].kind, PRISM_LANE_STREAM);
  EXPECT_EQ(trace.rank().lanes[trace.node("send").c.lane].kind, PRISM_LANE_COMM);
}

TEST(ChakraForeign, CollectivesOfEveryType) {
  const struct {
    CollectiveType type;
    int32_t kind;
    uint64_t input;
    uint64_t output;
  } cases[] = {{CollectiveType::AllReduce, PRISM_COMM_ALL_REDUCE, 80, 80},
               {CollectiveType::Reduce, PRISM_COMM_REDUCE, 80, 80},
               {CollectiveType::AllGather, PRISM_COMM_ALL_GATHER, 80, 160},
               {CollectiveType::Gather, PRISM_COMM_GATHER, 80, 80},
               {CollectiveType::Scatter, PRISM_COMM_SCATTER, 80, 80},
               {CollectiveType::Broadcast, PRISM_COMM_BROADCAST, 80, 80},
               {CollectiveType::AllToAll, PRISM_COMM_ALL_TO_ALL, 80, 80},
               {CollectiveType::ReduceScatter, PRISM_COMM_REDUCE_SCATTER, 80, 40},
               {CollectiveType::ReduceScatterBlock, PRISM_COMM_REDUCE_SCATTER, 80, 40},
               {CollectiveType::Barrier, PRISM_COMM_BARRIER, 0, 0}};
  TraceBytes rank;
  uint64_t id = 0;
  for (const auto& one : cases) {
    rank.add(collective(id++, one.type, 80));
  }
  const Imported trace({rank, rank});
  ASSERT_EQ(trace.error(), "");
  for (size_t i = 0; i < std::size(cases); ++i) {
    const prism_trace_node_t& node = trace.rank().nodes[i].c;
    EXPECT_EQ(node.kind, cases[i].kind);
    EXPECT_EQ(node.input_bytes, cases[i].input) << i;
    EXPECT_EQ(node.output_bytes, cases[i].output) << i;
  }
  EXPECT_THAT(trace.rank().communicators.at(0).ranks, ElementsAre(0, 1));
  EXPECT_THAT(trace.notes(), Contains(HasSubstr("8 collectives have a root")));
}

TEST(ChakraForeign, MessagesHavePeerTagAndSize) {
  const Imported trace({TraceBytes().add(send(0, 1, 4096)), TraceBytes().add(recv(0, 0, 4096))});
  const prism_trace_part_t& part = trace.node("send").parts.at(0);
  EXPECT_EQ(part.kind, PRISM_COMM_SEND);
  EXPECT_EQ(part.peer, 1);
  EXPECT_EQ(part.tag, 5);
  EXPECT_EQ(part.bytes, 4096U);
  EXPECT_EQ(trace.node("recv", 1).parts.at(0).peer, 0);
}

TEST(ChakraForeign, MessagesThatCannotBeAreNamed) {
  EXPECT_THAT(
      Imported({TraceBytes().add(send(4, 7))}).error(),
      HasSubstr("node 4 sends to rank 7, which is not in the group 'all ranks' of 1 ranks"));
  EXPECT_THAT(Imported({TraceBytes().add(send(4, 0).integer(attribute::kSource, 3))}).error(),
              HasSubstr("node 4 sends from rank 3, but the file is taken to be of rank 0"));
  const Imported nobody({TraceBytes().add(NodeBytes(4, "send", NodeType::Send))});
  EXPECT_EQ(nobody.node("send").c.kind, PRISM_NODE_COMPUTE);
  EXPECT_THAT(nobody.notes(), Contains(HasSubstr("1 sends and receives do not say with whom")));
}

TEST(ChakraForeign, WhatIsNotToldIsNoted) {
  std::string dimensions;
  put_bytes(dimensions, node_field::kAttribute,
            std::string("\x0a\x0cinvolved_dim\xe2\x01\x04\x0a\x02\x01\x00", 21));
  const Imported trace(
      {TraceBytes()
           .add(collective(0, CollectiveType::AllReduce, 8).raw(dimensions))
           .add(NodeBytes(1, "barrier", NodeType::Collective).integer(attribute::kCollective, 0))
           .add(NodeBytes(2, "typeless", NodeType::Invalid))});
  ASSERT_EQ(trace.error(), "");
  EXPECT_THAT(trace.notes(), AllOf(Contains(HasSubstr("1 collectives are of some dimensions")),
                                   Contains(HasSubstr("1 communications do not say their size")),
                                   Contains(HasSubstr("1 nodes have no type"))));
}

TEST(ChakraForeign, RanksWithTimesHaveClocksOfTheirOwnUnlessToldOtherwise) {
  const TraceBytes timed = TraceBytes().add(on_cpu(0).times(10, 1));
  const TraceBytes timeless = TraceBytes().add(on_cpu(0));
  const Imported automatic({timed, timed, timeless, timeless});
  EXPECT_EQ(automatic.rank(0).clock, 1U);
  EXPECT_EQ(automatic.rank(1).clock, 2U);
  EXPECT_EQ(automatic.rank(2).clock, 0U);
  EXPECT_EQ(automatic.rank(3).clock, 0U);
  const Imported shared({timed, timed}, {Clock::Shared, ""});
  EXPECT_EQ(shared.rank(0).clock, shared.rank(1).clock);
  const Imported own({timeless, timeless}, {Clock::Own, ""});
  EXPECT_NE(own.rank(0).clock, own.rank(1).clock);
}

TEST(ChakraForeign, TimesThatRunAwayAreRefused) {
  TraceBytes trace;
  for (uint64_t id = 0; id < 3; ++id) {
    trace.add(on_cpu(id).number(node_field::kDuration, 3'000'000'000'000'000));
  }
  EXPECT_THAT(Imported({trace}).error(), HasSubstr("node 1 ends more than 120 years after"));
}

}  // namespace
}  // namespace prism::chakra::testing
