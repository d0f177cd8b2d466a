// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/unit/replay/jobs.hpp"

namespace prism::replay::test {
namespace {

using testing::ElementsAre;

/// Two ranks, two iterations; rank 1 computes longer. Async all-reduce with a Transfer.
Write worker(DurationNs compute) {
  return [=](Rig& rig, uint32_t world) {
    for (int i = 0; i < 2; ++i) {
      const uint32_t issue = rig.compute(compute);
      const uint32_t sum = rig.builder.add_collective(
          rig.comm, {Kind::AllReduce, world, PRISM_DTYPE_F32, PRISM_REDUCE_SUM, -1, 8, 8, 0},
          {issue});
      rig.builder.add_transfer(rig.cpu, sum, 7);
      rig.compute(3);
      rig.builder.next_iteration();
    }
    rig.compute(0);
  };
}

TEST(Report, IterationsSplitsAndWaits) {
  const ReplayResult result = must_replay(job_of({worker(100), worker(250)}));
  EXPECT_THAT(result.iteration_end, ElementsAre(260, 520, 520));
  EXPECT_THAT(result.iteration_time, ElementsAre(260, 260, 0));
  const TimeSplit early{103, 7, 150};
  const TimeSplit late{253, 7, 0};
  EXPECT_EQ(result.classes[0].representative[1], early);
  EXPECT_EQ(result.classes[1].representative[1], late);
  ASSERT_EQ(result.waits.size(), 1U);
  EXPECT_EQ(result.waits[0].late, 1U);
  EXPECT_EQ(result.waits[0].waiting_class, 0U);
  EXPECT_EQ(result.waits[0].total, 300);
  EXPECT_EQ(result.waits[0].count, 2U);
  EXPECT_EQ(result.classes[0].lanes[0].representative, 2 * 110);
}

TEST(Report, TheWindowLimitsWhatIsLookedAt) {
  ReplayOptions options;
  options.first_iteration = 1;
  options.last_iteration = 1;
  const ReplayResult result = must_replay(job_of({worker(100), worker(250)}), options);
  EXPECT_EQ(result.window_start, 260);
  EXPECT_EQ(result.window_end, 520);
  EXPECT_EQ(result.waits[0].total, 150);
  EXPECT_EQ(result.classes[0].lanes[0].representative, 110);
  EXPECT_EQ(result.critical_path.before, 0);
  EXPECT_EQ(result.critical_path.by_kind.at(Kind::Compute), 253);
  EXPECT_EQ(result.critical_path.by_kind.at(Kind::Transfer), 7);
}

TEST(Report, TheCriticalPathGoesThroughTheLateRank) {
  const ReplayResult result = must_replay(job_of({worker(100), worker(250)}));
  TimeNs at = 0;
  for (const PathSegment& segment : result.critical_path.segments) {
    EXPECT_EQ(segment.start, at);
    at = segment.end;
  }
  EXPECT_EQ(at, 520);
  // The last end is on rank 0 (both tie); the 250 ns computes before it are those of rank 1.
  const auto& segments = result.critical_path.segments;
  ASSERT_EQ(segments.size(), 6U);
  EXPECT_EQ(segments[0].rank, 1U);
  EXPECT_EQ(segments[0].end, 250);
  EXPECT_EQ(segments[5].rank, 0U);
}

TEST(Report, TheOwnTimeOfACommunicationInAGapIsCommunication) {
  // The CPU waits for an async all-reduce from 100 on; it runs from 250 to 290.
  const auto rank = [](DurationNs compute) -> Write {
    return [=](Rig& rig, uint32_t world) {
      const uint32_t issue = rig.compute(compute);
      const uint32_t sum = rig.builder.add_collective(
          rig.comm, {Kind::AllReduce, world, 0, 0, -1, 8, 8, 40}, {issue});
      rig.builder.add_compute(rig.cpu, 5, {sum});
    };
  };
  const ReplayResult result = must_replay(job_of({rank(100), rank(250)}));
  const TimeSplit expected{105, 40, 150};
  EXPECT_EQ(result.classes[0].representative[0], expected);
}

TEST(Report, CriticalPathFollowsMessages) {
  const graph::Job job = job_of({[](Rig& rig, uint32_t world) {
                                   rig.compute(100);
                                   rig.message(Kind::Send, world, 1, 64, 5);
                                 },
                                 [](Rig& rig, uint32_t world) {
                                   rig.compute(10);
                                   rig.message(Kind::Recv, world, 0, 64, 8);
                                   rig.compute(20);
                                 }});
  const ReplayResult result = must_replay(job);
  std::vector<std::pair<Rank, uint32_t>> path;
  for (const PathSegment& segment : result.critical_path.segments) {
    path.emplace_back(segment.rank, segment.node);
  }
  EXPECT_THAT(path, ElementsAre(std::pair{0U, 0U}, std::pair{1U, 1U}, std::pair{1U, 2U}));
  EXPECT_EQ(result.critical_path.by_kind.at(Kind::Recv), 8);
}

TEST(Report, RecordsOnlyTheChosenRanks) {
  ReplayOptions options;
  options.record = {1};
  const auto result = replay(job_of({worker(1), worker(2)}), options);
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->recorded.size(), 1U);
  EXPECT_EQ(result->recorded[0].rank, 1U);
  EXPECT_EQ(result->nodes, 18U);
}

}  // namespace
}  // namespace prism::replay::test
