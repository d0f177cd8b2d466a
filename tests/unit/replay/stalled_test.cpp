// SPDX-License-Identifier: Apache-2.0
/// Jobs that cannot end: the message says who waits for whom.
#include <gmock/gmock.h>

#include "tests/unit/replay/jobs.hpp"

namespace prism::replay::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string error(const std::vector<Write>& writes, const std::string& backend = "gloo") {
  const auto result = replay(job_of(writes, backend), {});
  return result.ok() ? "ok" : result.status().to_string();
}

Write send_then_recv(int32_t peer) {
  return [=](Rig& rig, uint32_t world) {
    rig.message(Kind::Send, world, peer);
    rig.message(Kind::Recv, world, peer);
  };
}

TEST(Stalled, TwoSendsThatMeetNoRecvAreACircle) {
  EXPECT_EQ(error({send_then_recv(1), send_then_recv(0)}),
            "the job cannot go on: 2 of 2 ranks wait for ever; they wait for each other in a "
            "circle:\n"
            "  rank 0, lane cpu:0, node 0 (send of 64 bytes float32 to rank 1, tag 0, on 'world') "
            "waits for\n"
            "  rank 1, lane cpu:0, node 0 (send of 64 bytes float32 to rank 0, tag 0, on 'world') "
            "waits for\n"
            "  rank 0, lane cpu:0, node 0 (send of 64 bytes float32 to rank 1, tag 0, on 'world')");
  EXPECT_EQ(error({send_then_recv(1), send_then_recv(0)}, "nccl"), "ok") << "NCCL buffers them";
}

TEST(Stalled, CollectivesInDifferentOrderAreACircle) {
  const auto write = [](bool swapped) -> Write {
    return [=](Rig& rig, uint32_t) {
      const uint32_t a = rig.group("a", {0, 1});
      const uint32_t b = rig.group("b", {0, 1});
      rig.collective(Kind::AllReduce, swapped ? b : a);
      rig.collective(Kind::AllReduce, swapped ? a : b);
    };
  };
  EXPECT_THAT(error({write(false), write(true)}),
              AllOf(HasSubstr("in a circle"),
                    HasSubstr("rank 0, lane cpu:0, node 0 (all_reduce 0 "
                              "on 'a'"),
                    HasSubstr("rank 1, lane cpu:0, node 0 (all_reduce 0 on 'b'")));
}

TEST(Stalled, ACircleThroughTwoLanesShowsBoth) {
  const auto write = [](int32_t peer) -> Write {
    return [=](Rig& rig, uint32_t world) {
      const uint32_t received =
          rig.builder.add_message(rig.comm, Rig::part(Kind::Recv, world, peer), {});
      const uint32_t next = rig.builder.add_compute(rig.cpu, 1, {received});
      rig.builder.add_message(rig.cpu, Rig::part(Kind::Send, world, peer), {next});
    };
  };
  EXPECT_THAT(error({write(1), write(0)}),
              AllOf(HasSubstr("in a circle"), HasSubstr("lane comm:0, node 0 (recv"),
                    HasSubstr("lane cpu:0, node 1 (compute)")));
}

TEST(Stalled, WhatNeverComesIsNamed) {
  const auto nothing = [](Rig&, uint32_t) {};
  EXPECT_THAT(
      error({[](Rig& rig, uint32_t world) { rig.message(Kind::Recv, world, 1); }, nothing}),
      AllOf(HasSubstr("1 of 2 ranks wait for ever"), HasSubstr("rank 1, which never sends it")));
  EXPECT_THAT(
      error({[](Rig& rig, uint32_t world) { rig.collective(Kind::AllReduce, world); }, nothing}),
      HasSubstr("rank 1, which never takes part in it"));
  EXPECT_THAT(
      error({[](Rig& rig, uint32_t world) { rig.message(Kind::Recv, world, graph::kAnySource); },
             nothing}),
      HasSubstr("a message that nobody sends"));
  EXPECT_THAT(error({[](Rig& rig, uint32_t world) { rig.collective(Kind::Broadcast, world, 8, 0); },
                     nothing}),
              HasSubstr("never complete"))
      << "the root ends alone";
}

TEST(Stalled, AnySourceOfAnotherSizeIsAnError) {
  EXPECT_THAT(error({[](Rig& rig, uint32_t world) {
                       rig.message(Kind::Recv, world, graph::kAnySource, 32);
                     },
                     [](Rig& rig, uint32_t world) { rig.message(Kind::Send, world, 0, 64); }}),
              AllOf(HasSubstr("does not fit"), HasSubstr("recv of 32"), HasSubstr("send of 64"),
                    HasSubstr("rank 1")));
}

TEST(Stalled, MembersThatDisagreeAreAnError) {
  EXPECT_THAT(
      error({[](Rig& rig, uint32_t world) { rig.collective(Kind::AllReduce, world); },
             [](Rig& rig, uint32_t world) { rig.collective(Kind::Broadcast, world, 8, 0); }}),
      HasSubstr("disagree about a collective"));
}

}  // namespace
}  // namespace prism::replay::test
