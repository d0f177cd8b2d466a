// SPDX-License-Identifier: Apache-2.0
/// The class rule of architecture 5.
#include "core/graph/job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/check.hpp"
#include "tests/unit/graph/programs.hpp"

namespace prism::graph::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

using Classes = std::vector<std::vector<Rank>>;

Job must(Result<Job> job) {
  EXPECT_TRUE(job.ok()) << job.status().to_string();
  return job.ok() ? std::move(job).value() : Job{};
}
std::vector<Rank> group_of(const Job& job, Rank rank, uint32_t slot) {
  return job.communicators[job.communicator(rank, slot)].ranks;
}

/// tp x dp mesh of one class: tp groups are neighbours. `all_calls`: every rank sees every call.
Program mesh(Rank rank, uint32_t world, uint32_t tp, const std::string& tp_name,
             const std::string& dp_name, bool all_calls) {
  Rig rig(rank, world);
  std::vector<std::pair<std::string, std::vector<Rank>>> calls;
  for (Rank first = 0; first < world; first += tp) {
    calls.emplace_back(tp_name, ranks_between(first, first + tp - 1));
  }
  for (Rank first = 0; first < tp; ++first) {
    std::vector<Rank> group;
    for (Rank r = first; r < world; r += tp) {
      group.push_back(r);
    }
    calls.emplace_back(dp_name, group);
  }
  for (const auto& [name, ranks] : calls) {
    if (all_calls || std::count(ranks.begin(), ranks.end(), rank) != 0) {
      const uint32_t slot = rig.group(name, ranks);
      if (slot != kNone) {
        rig.collective(Kind::AllReduce, slot);
      }
    }
  }
  return rig.finish();
}

TEST(Instantiate, EveryRankOfAMeshGetsItsOwnGroups) {
  for (const Rank representative : {0U, 3U, 5U}) {
    const Job job =
        must(instantiate(8, {ranks_between(0, 7)}, {mesh(representative, 8, 2, "tp", "dp", true)}));
    ASSERT_TRUE(check(job).ok()) << check(job).to_string();
    for (Rank rank = 0; rank < 8; ++rank) {
      EXPECT_THAT(group_of(job, rank, 0), ElementsAre(rank / 2 * 2, rank / 2 * 2 + 1));
      EXPECT_THAT(group_of(job, rank, 1),
                  ElementsAre(rank % 2, rank % 2 + 2, rank % 2 + 4, rank % 2 + 6));
    }
    EXPECT_EQ(job.communicators.size(), 6U);
  }
}

TEST(Instantiate, GroupsOfTheSameDescriptionAndSizeAreToldApartByTheirOrder) {
  const Job job = must(instantiate(4, {ranks_between(0, 3)}, {mesh(0, 4, 2, "", "", true)}));
  EXPECT_THAT(group_of(job, 3, 0), ElementsAre(2, 3));
  EXPECT_THAT(group_of(job, 3, 1), ElementsAre(1, 3));
  EXPECT_TRUE(check(job).ok());
}

TEST(Instantiate, SamePositionDecidesWhereARankIsInSeveralAlikeGroups) {
  // A ring of pairs; rank 1 is second in [0,1] and first in [1,2].
  Rig rig(1, 6);
  std::vector<uint32_t> slots;
  for (Rank first = 0; first < 5; ++first) {
    slots.push_back(rig.group("pair", {first, first + 1}));
  }
  rig.collective(Kind::Barrier, slots[0]);
  rig.collective(Kind::Barrier, slots[1]);
  Rig first(0, 6);
  const uint32_t right = first.group("pair", {0, 1});
  first.collective(Kind::Barrier, right);
  Rig last(5, 6);
  last.collective(Kind::Barrier, last.group("pair", {4, 5}));
  // Ranks 1 and 3 form the class; 2 and 4 another one with the same program, seen from 2.
  Rig second(2, 6);
  for (Rank f = 0; f < 5; ++f) {
    const uint32_t slot = second.group("pair", {f, f + 1});
    if (slot != kNone) {
      second.collective(Kind::Barrier, slot);
    }
  }
  const Job job = must(instantiate(6, {{0}, {1, 3}, {2, 4}, {5}},
                                   {first.finish(), rig.finish(), second.finish(), last.finish()}));
  EXPECT_THAT(group_of(job, 3, 0), ElementsAre(2, 3));
  EXPECT_THAT(group_of(job, 3, 1), ElementsAre(3, 4));
  EXPECT_TRUE(check(job).ok()) << check(job).to_string();
}

TEST(Instantiate, DerivesGroupsThatNobodyRecorded) {
  // Two stages, four replicas, local synchronisation: each rank knows its own groups only.
  const Classes classes{{0, 1, 2, 3}, {4, 5, 6, 7}};
  std::vector<Program> programs;
  for (const Rank rank : {1U, 6U}) {
    Rig rig(rank, 8);
    const uint32_t stage = rig.group("stage", rank < 4 ? ranks_between(0, 3) : ranks_between(4, 7));
    const uint32_t pipe = rig.group("pipe", {rank % 4, rank % 4 + 4});
    rig.collective(Kind::Broadcast, pipe, 8, 1);
    rig.collective(Kind::AllReduce, stage);
    programs.push_back(rig.finish());
  }
  const Job job = must(instantiate(8, classes, std::move(programs)));
  for (Rank rank = 0; rank < 8; ++rank) {
    EXPECT_THAT(group_of(job, rank, 1), ElementsAre(rank % 4, rank % 4 + 4));
  }
  EXPECT_TRUE(job.communicators[job.communicator(0, 1)].synthesised);
  EXPECT_FALSE(job.communicators[job.communicator(1, 1)].synthesised);
  EXPECT_TRUE(check(job).ok()) << check(job).to_string();
}

TEST(Instantiate, AClassOrderGivesTheReplicas) {
  // The i-th members of the classes belong together: 0 with 5, 1 with 4.
  const Classes classes{{0, 1, 2}, {5, 4, 3}};
  Rig sender(1, 6);
  sender.message(Kind::Send, sender.group("world", ranks_between(0, 5)), 4);
  Rig receiver(5, 6);
  receiver.message(Kind::Recv, receiver.group("world", ranks_between(0, 5)), 0);
  const Job job = must(instantiate(6, classes, {sender.finish(), receiver.finish()}));
  EXPECT_EQ(job.peer(0, job.program(0).parts[0]), 5U);
  EXPECT_EQ(job.peer(2, job.program(2).parts[0]), 3U);
  EXPECT_EQ(job.peer(3, job.program(3).parts[0]), 2U);
  EXPECT_TRUE(check(job).ok()) << check(job).to_string();
}

TEST(Instantiate, PeersInsideAClassWrapAround) {
  Rig rig(2, 4);
  const uint32_t world = rig.group("world", ranks_between(0, 3));
  rig.builder.add_batch(rig.cpu,
                        {Rig::part(Kind::Send, world, 3), Rig::part(Kind::Recv, world, 1)});
  const Job job = must(instantiate(4, {ranks_between(0, 3)}, {rig.finish()}));
  EXPECT_EQ(job.peer(3, job.program(3).parts[0]), 0U);
  EXPECT_EQ(job.peer(0, job.program(0).parts[1]), 3U);
  EXPECT_TRUE(check(job).ok());
}

TEST(Instantiate, ClassesOfDifferentSizeWrapEachInItself) {
  // Two feeders of four workers each: worker k of 4 -> feeder k mod 2.
  Rig worker(2, 6);
  worker.message(Kind::Send, worker.group("world", ranks_between(0, 5)), 4);
  Rig feeder(4, 6);
  feeder.compute(1);
  const Job job = must(instantiate(6, {{0, 1, 2, 3}, {4, 5}}, {worker.finish(), feeder.finish()}));
  EXPECT_EQ(job.peer(3, job.program(3).parts[0]), 5U);
  EXPECT_EQ(job.peer(0, job.program(0).parts[0]), 4U);
}

TEST(Instantiate, TwoCommunicatorsOnOneAreAnErrorThatNamesBothRanks) {
  // A ring of pairs with one class: rank 1 is itself in both pairs of rank 0... of a world of 2.
  Rig rig(0, 3);
  const uint32_t left = rig.group("ring", {0, 2});
  const uint32_t right = rig.group("ring", {0, 1});
  rig.collective(Kind::AllReduce, left);
  rig.collective(Kind::AllReduce, right);
  const auto job = instantiate(3, {{0, 1, 2}}, {rig.finish()});
  ASSERT_FALSE(job.ok());
  EXPECT_THAT(job.status().to_string(),
              AllOf(HasSubstr("rank 1 cannot be derived from rank 0"), HasSubstr("'ring'"),
                    HasSubstr("lane cpu:0, node 0 (all_reduce 0"), HasSubstr("node 1")));
  EXPECT_EQ(job.status().exit_code(), 1);
}

TEST(Instantiate, APeerOutsideTheGroupIsAnErrorThatNamesBothRanks) {
  // Pairs of neighbours, but the class is listed so that shifting leaves the pair.
  Rig rig(0, 4);
  const uint32_t pair = rig.group("pair", {0, 1});
  rig.group("pair", {2, 3});
  rig.message(Kind::Send, pair, 1);
  const auto job = instantiate(4, {{0, 1, 2, 3}}, {rig.finish()});
  ASSERT_FALSE(job.ok());
  EXPECT_THAT(job.status().to_string(),
              AllOf(HasSubstr("rank 1 cannot be derived from rank 0"),
                    HasSubstr("rank 1 would talk to rank 2"),
                    HasSubstr("lane cpu:0, node 0 (send of 64 bytes float32 to rank 1")));
}

TEST(Instantiate, UnusedGroupsNeedNoMapping) {
  Rig rig(0, 4);
  rig.group("only_zero", {0, 2});
  rig.collective(Kind::Barrier, rig.group("world", ranks_between(0, 3)));
  const Job job = must(instantiate(4, {ranks_between(0, 3)}, {rig.finish()}));
  EXPECT_EQ(job.communicator(1, 0), kNone);
  EXPECT_EQ(job.communicators.size(), 1U);
}

TEST(Instantiate, ClassesMustCoverTheWorldOnce) {
  const auto error = [](const Classes& classes, std::vector<Rank> recorded) {
    std::vector<Program> programs;
    for (const Rank rank : recorded) {
      programs.push_back(Rig(rank, 4).finish());
    }
    const auto job = instantiate(4, classes, std::move(programs));
    return job.ok() ? "ok" : job.status().to_string();
  };
  EXPECT_EQ(error({{0, 1}, {2, 3}}, {1, 2}), "ok");
  EXPECT_THAT(error({{0, 1}, {3}}, {0, 3}), HasSubstr("rank 2 is in no class"));
  EXPECT_THAT(error({{0, 1}, {1, 2, 3}}, {0, 3}), HasSubstr("rank 1 is in class 0 and in class 1"));
  EXPECT_THAT(error({{0, 1, 2, 3, 4}}, {0}), HasSubstr("not below the world size 4"));
  EXPECT_THAT(error({{0, 1}, {2, 3}}, {0, 1}), HasSubstr("does not contain rank 1"));
  EXPECT_THAT(error({{0, 1, 2, 3}}, {0, 1}), HasSubstr("1 classes, but 2 recorded programs"));
}

// ---- check_replicas ----

Program replica(Rank rank, uint64_t bytes, const std::function<void(Rig&, uint32_t)>& more = {}) {
  Rig rig(rank, 8);
  const uint32_t world = rig.group("world", ranks_between(0, 7));
  std::vector<uint32_t> pairs;
  for (Rank first = 0; first < 4; ++first) {
    const uint32_t slot = rig.group("pair", {first, first + 4});
    if (slot != kNone) {
      pairs.push_back(slot);
    }
  }
  rig.compute(100 + rank);
  rig.collective(Kind::AllReduce, world, bytes);
  rig.message(rank < 4 ? Kind::Send : Kind::Recv, pairs.at(0), rank < 4 ? 1 : 0);
  if (more) {
    more(rig, world);
  }
  return rig.finish();
}

Job two_stages() {
  return must(instantiate(8, {{0, 1, 2, 3}, {4, 5, 6, 7}}, {replica(0, 8), replica(6, 8)}));
}

TEST(CompareStructure, AcceptsAnEqualMember) {
  const Job job = two_stages();
  EXPECT_TRUE(compare_structure(job, replica(3, 8)).ok())
      << compare_structure(job, replica(3, 8)).to_string();
  EXPECT_TRUE(compare_structure(job, replica(5, 8)).ok());
}

TEST(CompareStructure, NamesTheFirstDifferenceAndBothRanks) {
  const Job job = two_stages();
  EXPECT_THAT(compare_structure(job, replica(3, 16)).to_string(),
              AllOf(HasSubstr("ranks 0 and 3"), HasSubstr("do not behave alike"),
                    HasSubstr("node 1 (all_reduce 0 on 'world', float32 sum, 8 bytes)"),
                    HasSubstr("node 1 (all_reduce 0 on 'world', float32 sum, 16 bytes)")));
  const auto longer = replica(3, 8, [](Rig& rig, uint32_t) { rig.compute(1); });
  EXPECT_THAT(compare_structure(job, longer).to_string(),
              AllOf(HasSubstr("3 and 4 nodes"), HasSubstr("only rank 3 has lane cpu:0, node 3")));
  Program other_peer = replica(3, 8);
  other_peer.communicators[1].ranks = {3, 6};
  EXPECT_THAT(compare_structure(job, other_peer).to_string(),
              AllOf(HasSubstr("to rank 7"), HasSubstr("to rank 6")));
}

TEST(Instantiate, IsLinearEnoughForThousandsOfRanks) {
  const uint32_t world = 8192;
  const Job job = must(
      instantiate(world, {ranks_between(0, world - 1)}, {mesh(77, world, 8, "tp", "dp", true)}));
  EXPECT_EQ(job.communicators.size(), world / 8 + 8);
  EXPECT_THAT(group_of(job, 4095, 0), ElementsAre(4088, 4089, 4090, 4091, 4092, 4093, 4094, 4095));
  EXPECT_TRUE(check(job).ok());
}

}  // namespace
}  // namespace prism::graph::test
