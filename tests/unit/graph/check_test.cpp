// SPDX-License-Identifier: Apache-2.0
#include "core/graph/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/messages.hpp"
#include "tests/unit/graph/programs.hpp"

namespace prism::graph::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Write = std::function<void(Rig&, uint32_t world)>;

/// Each rank is a class of its own and writes its own program.
std::string checked(const std::vector<Write>& writes, const std::string& backend = "gloo") {
  const auto size = static_cast<uint32_t>(writes.size());
  std::vector<std::vector<Rank>> classes;
  std::vector<Program> programs;
  for (Rank rank = 0; rank < size; ++rank) {
    Rig rig(rank, size);
    writes[rank](rig, rig.group("world", ranks_between(0, size - 1), backend));
    classes.push_back({rank});
    programs.push_back(rig.finish());
  }
  const auto job = instantiate(size, classes, std::move(programs));
  EXPECT_TRUE(job.ok()) << job.status().to_string();
  return job.ok() ? check(*job).to_string() : "";
}

Write collective(Kind kind, uint64_t bytes = 8, int32_t root = -1) {
  return [=](Rig& rig, uint32_t world) { rig.collective(kind, world, bytes, root); };
}
Write sizes(Kind kind, uint64_t input, uint64_t output) {
  return [=](Rig& rig, uint32_t world) {
    rig.builder.add_collective(rig.cpu, {kind, world, PRISM_DTYPE_F32, 0, 0, input, output, 0});
  };
}

TEST(Check, AMissingMemberIsNamedWithTheOther) {
  EXPECT_THAT(checked({collective(Kind::AllReduce), collective(Kind::AllReduce),
                       [](Rig& rig, uint32_t) { rig.compute(1); }}),
              AllOf(HasSubstr("rank 2 is missing from the 1st collective of communicator 'world' "
                              "(gloo, ranks 0-2)"),
                    HasSubstr("rank 0, lane cpu:0, node 0 (all_reduce 0 on 'world'")));
  const auto twice = [](Rig& rig, uint32_t world) {
    rig.collective(Kind::Barrier, world);
    rig.collective(Kind::Barrier, world);
  };
  EXPECT_THAT(checked({collective(Kind::Barrier), twice}),
              AllOf(HasSubstr("rank 0 is missing from the 2nd collective"),
                    HasSubstr("it has 1 collectives there, rank 1 has 2")));
}

TEST(Check, WhatDiffersInACollectiveIsNamedWithBothRanks) {
  EXPECT_THAT(
      checked({collective(Kind::AllReduce), collective(Kind::AllGather)}),
      AllOf(HasSubstr("different kinds"), HasSubstr("rank 0, lane cpu:0, node 0 (all_reduce"),
            HasSubstr("rank 1, lane cpu:0, node 0 (all_gather")));
  EXPECT_THAT(
      checked({collective(Kind::Broadcast, 8, 0), collective(Kind::Broadcast, 8, 1)}),
      AllOf(HasSubstr("different roots"), HasSubstr("root rank 0"), HasSubstr("root rank 1")));
  EXPECT_THAT(checked({collective(Kind::AllReduce, 8), collective(Kind::AllReduce, 16)}),
              AllOf(HasSubstr("different sizes"), HasSubstr("8 bytes"), HasSubstr("16 bytes")));
  const auto other_type = [](Rig& rig, uint32_t world) {
    rig.builder.add_collective(
        rig.cpu, {Kind::AllReduce, world, PRISM_DTYPE_I64, PRISM_REDUCE_SUM, -1, 8, 8, 0});
  };
  EXPECT_THAT(checked({collective(Kind::AllReduce), other_type}),
              AllOf(HasSubstr("different element types"), HasSubstr("float32 sum"),
                    HasSubstr("int64 sum")));
  const auto other_reduction = [](Rig& rig, uint32_t world) {
    rig.builder.add_collective(
        rig.cpu, {Kind::AllReduce, world, PRISM_DTYPE_F32, PRISM_REDUCE_MAX, -1, 8, 8, 0});
  };
  EXPECT_THAT(checked({collective(Kind::AllReduce), other_reduction}),
              AllOf(HasSubstr("different reductions"), HasSubstr("sum"), HasSubstr("max")));
}

TEST(Check, UnevenSizesMustAddUp) {
  EXPECT_EQ(checked({sizes(Kind::AllToAll, 10, 30), sizes(Kind::AllToAll, 30, 10)}), "ok");
  EXPECT_THAT(checked({sizes(Kind::AllToAll, 10, 30), sizes(Kind::AllToAll, 30, 30)}),
              AllOf(HasSubstr("do not add up"), HasSubstr("put in 40 bytes and get 60")));
  EXPECT_EQ(checked({sizes(Kind::AllGather, 10, 30), sizes(Kind::AllGather, 20, 30)}), "ok");
  EXPECT_THAT(checked({sizes(Kind::AllGather, 10, 30), sizes(Kind::AllGather, 25, 30)}),
              HasSubstr("do not add up"));
  EXPECT_EQ(checked({sizes(Kind::ReduceScatter, 30, 10), sizes(Kind::ReduceScatter, 30, 20)}),
            "ok");
  EXPECT_EQ(checked({sizes(Kind::AllGather, 10, 20), sizes(Kind::AllGather, 10, 20)}), "ok");
  EXPECT_EQ(checked({sizes(Kind::Scatter, 20, 10), sizes(Kind::Scatter, 0, 10)}), "ok")
      << "only the root of a scatter puts something in";
}

TEST(Check, RanksOfAClassMayGetOtherSizesThanTheirRepresentative) {
  const auto class_of = [](std::vector<Rank> members, uint64_t output) {
    Rig rig(members.front(), 3);
    sizes(Kind::AllToAll, 30, output)(rig, rig.group("world", ranks_between(0, 2), "gloo"));
    return std::pair(std::move(members), rig.finish());
  };
  const auto job = [&](uint64_t hot, uint64_t others) {
    auto [first, hot_one] = class_of({0}, hot);
    auto [rest, other] = class_of({1, 2}, others);
    std::vector<Program> programs;
    programs.push_back(std::move(hot_one));
    programs.push_back(std::move(other));
    return *instantiate(3, {first, rest}, std::move(programs));
  };
  std::vector<std::string> notes;
  EXPECT_EQ(check(job(50, 20), &notes).to_string(), "ok");
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(check(job(50, 30), &notes).to_string(), "ok");
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes[0], AllOf(HasSubstr("1 all-to-all does not add up"),
                              HasSubstr("put in 90 bytes and get 110")));
  EXPECT_THAT(check(job(40, 40), &notes).to_string(), HasSubstr("do not add up"))
      << "all alike: no rank has less";
}

Write message(Kind kind, int32_t peer, uint64_t bytes = 64, int32_t tag = 0) {
  return [=](Rig& rig, uint32_t world) { rig.message(kind, world, peer, bytes, 0, tag); };
}

TEST(Check, MessagesMustMatch) {
  EXPECT_EQ(checked({message(Kind::Send, 1), message(Kind::Recv, 0)}), "ok");
  EXPECT_THAT(checked({message(Kind::Send, 1), [](Rig&, uint32_t) {}}),
              AllOf(HasSubstr("rank 1 never receives the 1st message that rank 0 sends"),
                    HasSubstr("unmatched rank 0, lane cpu:0, node 0 (send of 64 bytes")));
  EXPECT_THAT(checked({[](Rig&, uint32_t) {}, message(Kind::Recv, 0)}),
              AllOf(HasSubstr("rank 0 never sends the 1st message that rank 1 expects"),
                    HasSubstr("rank 1, lane cpu:0, node 0 (recv of 64 bytes")));
  EXPECT_THAT(
      checked({message(Kind::Send, 1, 64), message(Kind::Recv, 0, 32)}),
      AllOf(HasSubstr("different sizes"), HasSubstr("send of 64"), HasSubstr("recv of 32")));
  const auto other_type = [](Rig& rig, uint32_t world) {
    Part part = Rig::part(Kind::Recv, world, 0);
    part.dtype = PRISM_DTYPE_I8;
    rig.builder.add_batch(rig.comm, {part});
  };
  EXPECT_THAT(checked({message(Kind::Send, 1), other_type}),
              AllOf(HasSubstr("different element types"),
                    HasSubstr("rank 1, lane comm:0, node 0 (batch of 1): recv of 64 bytes int8")));
}

TEST(Check, TagsCountForGlooAndNotForNccl) {
  const std::vector<Write> tags{message(Kind::Send, 1, 64, 3), message(Kind::Recv, 0, 64, 4)};
  EXPECT_THAT(checked(tags, "gloo"), HasSubstr("tag 3"));
  EXPECT_EQ(checked(tags, "nccl"), "ok");
}

TEST(Check, MessagesOfAPairAreMatchedInOrder) {
  const auto two = [](Kind kind, int32_t peer, uint64_t a, uint64_t b) -> Write {
    return [=](Rig& rig, uint32_t world) {
      rig.message(kind, world, peer, a);
      rig.message(kind, world, peer, b);
    };
  };
  EXPECT_EQ(checked({two(Kind::Send, 1, 1, 2), two(Kind::Recv, 0, 1, 2)}), "ok");
  EXPECT_THAT(checked({two(Kind::Send, 1, 1, 2), two(Kind::Recv, 0, 1, 3)}),
              HasSubstr("the 2nd message from rank 0 to rank 1"));
}

TEST(Check, ReceivesFromAnySource) {
  const auto any = [](int count) -> Write {
    return [=](Rig& rig, uint32_t world) {
      for (int i = 0; i < count; ++i) {
        rig.message(Kind::Recv, world, kAnySource);
      }
    };
  };
  EXPECT_EQ(checked({any(2), message(Kind::Send, 0), message(Kind::Send, 0)}), "ok");
  EXPECT_THAT(
      checked({any(3), message(Kind::Send, 0), message(Kind::Send, 0)}),
      AllOf(HasSubstr("rank 0 receives 3 messages from any source"), HasSubstr("but 2 are sent")));
  const auto mixed = [](Rig& rig, uint32_t world) {
    rig.message(Kind::Recv, world, kAnySource);
    rig.message(Kind::Recv, world, 1);
  };
  EXPECT_THAT(checked({mixed, message(Kind::Send, 0), message(Kind::Send, 0)}),
              AllOf(HasSubstr("both from any source"), HasSubstr("use two tags")));
}

TEST(Check, AWronglyDerivedGroupIsExplained) {
  // Groups of neighbours that only their members know: shifting rank 0 by one gives [1,2].
  Rig rig(0, 4);
  rig.collective(Kind::AllReduce, rig.group("tp", {0, 1}));
  const auto job = instantiate(4, {ranks_between(0, 3)}, {rig.finish()});
  ASSERT_TRUE(job.ok());
  EXPECT_THAT(check(*job).to_string(), AllOf(HasSubstr("is missing"), HasSubstr("it was derived")));
}

}  // namespace
}  // namespace prism::graph::test
