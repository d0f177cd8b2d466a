// SPDX-License-Identifier: Apache-2.0
/// Who waits for whom (architecture 5), by hand. Ranks arrive at 100, 500 and 300.
#include <gmock/gmock.h>

#include "tests/unit/replay/jobs.hpp"

namespace prism::replay::test {
namespace {

using testing::ElementsAre;

constexpr DurationNs kArrivals[] = {100, 500, 300};

/// (start, end) of the last node of each rank.
struct Ends {
  std::vector<TimeNs> start;
  std::vector<TimeNs> end;
};

Ends last_nodes(const graph::Job& job, const ReplayOptions& options = {}) {
  Ends ends;
  for (const RecordedTimes& rank : must_replay(job, options).recorded) {
    ends.start.push_back(rank.nodes.back().start);
    ends.end.push_back(rank.nodes.back().end);
  }
  return ends;
}

Ends collective(Kind kind, int32_t root = -1) {
  std::vector<Write> writes;
  for (int rank = 0; rank < 3; ++rank) {
    writes.push_back([=](Rig& rig, uint32_t world) {
      rig.compute(kArrivals[rank]);
      rig.collective(kind, world, 8, root, 10 + rank);
    });
  }
  return last_nodes(job_of(writes));
}

TEST(Rules, AllWaitForTheLast) {
  for (const Kind kind :
       {Kind::AllReduce, Kind::AllGather, Kind::ReduceScatter, Kind::AllToAll, Kind::Barrier}) {
    const Ends ends = collective(kind);
    EXPECT_THAT(ends.start, ElementsAre(500, 500, 500)) << to_string(kind);
    EXPECT_THAT(ends.end, ElementsAre(510, 511, 512)) << to_string(kind);
  }
}

TEST(Rules, BroadcastWaitsForTheRootOnly) {
  EXPECT_THAT(collective(Kind::Broadcast, 0).start, ElementsAre(100, 500, 300));
  EXPECT_THAT(collective(Kind::Broadcast, 1).start, ElementsAre(500, 500, 500));
  EXPECT_THAT(collective(Kind::Broadcast, 2).start, ElementsAre(300, 500, 300));
}

TEST(Rules, TheRootOfScatterReduceAndGatherWaitsForAll) {
  for (const Kind kind : {Kind::Scatter, Kind::Reduce, Kind::Gather}) {
    EXPECT_THAT(collective(kind, 0).start, ElementsAre(500, 500, 300)) << to_string(kind);
    EXPECT_THAT(collective(kind, 1).start, ElementsAre(500, 500, 500)) << to_string(kind);
    EXPECT_THAT(collective(kind, 2).start, ElementsAre(300, 500, 500)) << to_string(kind);
  }
}

graph::Job message(DurationNs send_at, DurationNs recv_at, const std::string& backend,
                   uint64_t bytes) {
  return job_of({[=](Rig& rig, uint32_t world) {
                   rig.compute(send_at);
                   rig.message(Kind::Send, world, 1, bytes, 20);
                 },
                 [=](Rig& rig, uint32_t world) {
                   rig.compute(recv_at);
                   rig.message(Kind::Recv, world, 0, bytes, 30);
                 }},
                backend);
}

TEST(Rules, GlooSendsMeetTheirRecv) {
  EXPECT_THAT(last_nodes(message(100, 400, "gloo", 64)).end, ElementsAre(420, 430));
  EXPECT_THAT(last_nodes(message(400, 100, "gloo", 64)).end, ElementsAre(420, 430));
}

TEST(Rules, NcclSendsOfBufferedSizeDoNotWait) {
  EXPECT_THAT(last_nodes(message(100, 400, "nccl", 65536)).end, ElementsAre(120, 430));
  EXPECT_THAT(last_nodes(message(400, 100, "nccl", 65536)).end, ElementsAre(420, 430));
  EXPECT_THAT(last_nodes(message(100, 400, "nccl", 65537)).end, ElementsAre(420, 430));
  ReplayOptions options;
  options.eager_bytes = 1 << 20;
  EXPECT_THAT(last_nodes(message(100, 400, "nccl", 65537), options).end, ElementsAre(120, 430));
}

TEST(Rules, ABatchArrivesTogetherAndEndsWithItsLastPart) {
  // A ring of three; rank r sends to r+1. No order of lone sends would get through.
  std::vector<Write> writes;
  for (int32_t rank = 0; rank < 3; ++rank) {
    writes.push_back([=](Rig& rig, uint32_t world) {
      rig.compute(kArrivals[rank]);
      rig.builder.add_batch(rig.cpu, {Rig::part(Kind::Send, world, (rank + 1) % 3, 64, 1),
                                      Rig::part(Kind::Recv, world, (rank + 2) % 3, 64, 7)});
    });
  }
  const Ends ends = last_nodes(job_of(writes));
  EXPECT_THAT(ends.start, ElementsAre(100, 500, 300));
  // 0: send meets 1 at 500, recv meets 2 at 300. 1: both at 500. 2: send 300, recv 500.
  EXPECT_THAT(ends.end, ElementsAre(501, 507, 507));
}

TEST(Rules, AnySourceTakesTheEarliestArrived) {
  const auto sender = [](DurationNs at) -> Write {
    return [=](Rig& rig, uint32_t world) {
      rig.compute(at);
      rig.message(Kind::Send, world, 0);
    };
  };
  const auto receiver = [](Rig& rig, uint32_t world) {
    for (int i = 0; i < 3; ++i) {
      rig.message(Kind::Recv, world, graph::kAnySource, 64, 10);
    }
  };
  const graph::Job job = job_of({receiver, sender(500), sender(300), sender(300)});
  const ReplayResult result = must_replay(job);
  EXPECT_EQ(result.recorded[0].nodes[0].end, 310) << "of rank 2: the lower of two that tie";
  EXPECT_EQ(result.recorded[0].nodes[1].end, 320);
  EXPECT_EQ(result.recorded[0].nodes[2].end, 510);
  EXPECT_EQ(result.recorded[2].nodes[1].end, 300) << "met at once";
  EXPECT_EQ(result.recorded[3].nodes[1].end, 310) << "met the second receive";
}

TEST(Rules, AnySourceWaitsUntilNoEarlierSendCanCome) {
  // Rank 1's send becomes possible only through rank 2, but arrives before that of rank 3.
  const graph::Job job = job_of({[](Rig& rig, uint32_t world) {
                                   rig.message(Kind::Recv, world, graph::kAnySource, 64, 0, 9);
                                   rig.message(Kind::Recv, world, graph::kAnySource, 64, 0, 9);
                                 },
                                 [](Rig& rig, uint32_t world) {
                                   rig.message(Kind::Recv, world, 2);
                                   rig.message(Kind::Send, world, 0, 64, 0, 9);
                                 },
                                 [](Rig& rig, uint32_t world) {
                                   rig.compute(50);
                                   rig.message(Kind::Send, world, 1);
                                 },
                                 [](Rig& rig, uint32_t world) {
                                   rig.compute(80);
                                   rig.message(Kind::Send, world, 0, 64, 0, 9);
                                 }});
  const ReplayResult result = must_replay(job);
  EXPECT_EQ(result.recorded[0].nodes[0].end, 50);
  EXPECT_EQ(result.recorded[0].nodes[1].end, 80);
}

TEST(Rules, LanesRunSideBySideAndMeetAtDependencies) {
  const graph::Job job = job_of({[](Rig& rig, uint32_t) {
    const uint32_t issue = rig.compute(10);
    const uint32_t async = rig.builder.add_compute(rig.comm, 100, {issue});
    rig.compute(30);                                      // 10 .. 40, beside it
    rig.builder.add_compute(rig.cpu, 5, {async, issue});  // waits until 110
  }});
  const ReplayResult result = must_replay(job);
  EXPECT_EQ(result.recorded[0].nodes[2].end, 40);
  EXPECT_EQ(result.recorded[0].nodes[3].start, 110);
  EXPECT_EQ(result.end, 115);
}

TEST(Rules, CollectivesOnDifferentLanesMayPassEachOther) {
  // Rank 0 issues x then y, rank 1 needs y first: no deadlock, since they are on two lanes.
  const auto write = [](bool y_first) -> Write {
    return [=](Rig& rig, uint32_t) {
      const uint32_t x = rig.group("x", {0, 1});
      const uint32_t y = rig.group("y", {0, 1});
      const auto barrier = [&](uint32_t lane, uint32_t group, std::vector<uint32_t> after) {
        return rig.builder.add_collective(lane, {Kind::Barrier, group}, after);
      };
      if (y_first) {
        const uint32_t waited = barrier(rig.comm, y, {});
        barrier(rig.cpu, x, {rig.builder.add_compute(rig.cpu, 40, {waited})});
      } else {
        barrier(rig.comm, x, {});
        rig.compute(20);
        barrier(rig.cpu, y, {});
      }
    };
  };
  const ReplayResult result = must_replay(job_of({write(false), write(true)}));
  EXPECT_EQ(result.recorded[0].nodes[2].end, 20) << "y";
  EXPECT_EQ(result.recorded[0].nodes[0].end, 60) << "x";
}

TEST(Rules, AnEmptyJobEndsAtOnce) {
  const ReplayResult result = must_replay(job_of({[](Rig&, uint32_t) {}}));
  EXPECT_EQ(result.end, 0);
  EXPECT_TRUE(result.iteration_time.empty());
}

}  // namespace
}  // namespace prism::replay::test
