// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/layout.hpp"

#include <gtest/gtest.h>

#include "tests/unit/analysis/pipeline_job.hpp"
#include "tests/unit/graph/programs.hpp"

namespace prism::analysis {
namespace {

using graph::Kind;
using graph::test::Rig;
using Groups = std::vector<std::vector<Rank>>;

graph::Job job_of(uint32_t world_size, const Groups& classes,
                  std::vector<graph::Program> programs) {
  Result<graph::Job> job = graph::instantiate(world_size, classes, std::move(programs));
  EXPECT_TRUE(job.ok()) << job.status().to_string();
  return std::move(job).value();
}

TEST(Layout, OfAPipelineWhoseCommunicatorsSaySo) {
  const graph::Job job = test::pipeline_job({.stages = 3, .replicas = 2, .forward = {1, 1, 1}});
  const Layout layout = layout_of(job);
  EXPECT_EQ(layout.stage, (std::vector<int32_t>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(layout.replica, (std::vector<uint32_t>{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(layout.stages, 3U);
  EXPECT_EQ(layout.replicas, 2U);
  EXPECT_EQ(layout.like, (Groups{{0, 1}, {2, 3}, {4, 5}}));
  EXPECT_EQ(layout.stages_from, "places in 'pp'");
  EXPECT_EQ(layout.replicas_from, "places in 'dp'");
}

TEST(Layout, OfAPipelineWhoseCommunicatorsSayNothing) {
  const graph::Job job = test::pipeline_job(
      {.stages = 4, .replicas = 2, .forward = {1, 1, 1, 1}, .pipeline = "x", .data_parallel = "y"});
  const Layout layout = layout_of(job);
  EXPECT_EQ(layout.stage, (std::vector<int32_t>{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(layout.replica, (std::vector<uint32_t>{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(layout.stages_from, "who sends to whom first");
  EXPECT_EQ(layout.replicas_from, "places among ranks that communicate alike");
}

/// Interleaved schedules send from the last stage to the first as well.
TEST(Layout, OfACircle) {
  std::vector<graph::Program> programs;
  const std::vector<Rank> order = {2, 0, 1};  // by stage
  std::vector<int32_t> stage_of = {1, 2, 0};  // by rank
  for (Rank rank = 0; rank < 3; ++rank) {
    Rig rig(rank, 3);
    const uint32_t all = rig.group("x", {0, 1, 2}, "nccl");
    const auto own = static_cast<size_t>(stage_of[rank]);
    const auto next = static_cast<int32_t>(order[(own + 1) % 3]);
    const auto previous = static_cast<int32_t>(order[(own + 2) % 3]);
    if (own == 0) {
      rig.message(Kind::Send, all, next);
      rig.message(Kind::Recv, all, previous);
    } else {
      rig.message(Kind::Recv, all, previous);
      rig.message(Kind::Send, all, next);
    }
    programs.push_back(rig.finish());
  }
  const Layout layout = layout_of(job_of(3, {{0}, {1}, {2}}, std::move(programs)));
  EXPECT_EQ(layout.stage, (std::vector<int32_t>{1, 2, 0}));
}

TEST(Layout, WithoutMessagesThereAreNoStages) {
  std::vector<graph::Program> programs;
  for (Rank rank = 0; rank < 4; ++rank) {
    Rig rig(rank, 4);
    rig.compute(5);
    rig.collective(Kind::AllReduce, rig.group("world", {0, 1, 2, 3}), rank == 3 ? 16 : 8);
    programs.push_back(rig.finish());
  }
  const Layout layout = layout_of(job_of(4, {{0}, {1}, {2}, {3}}, std::move(programs)));
  EXPECT_EQ(layout.stages, 0U);
  EXPECT_EQ(layout.stage, std::vector<int32_t>(4, -1));
  EXPECT_EQ(layout.like, (Groups{{0, 1, 2}, {3}}));  // other sizes: not alike
  EXPECT_EQ(layout.replica, (std::vector<uint32_t>{0, 1, 2, 0}));
}

TEST(Layout, MembersOfClassesAreReplicas) {
  Rig rig(2, 4);
  rig.compute(5);
  rig.collective(Kind::AllReduce, rig.group("dp", {0, 1, 2, 3}));
  std::vector<graph::Program> programs;
  programs.push_back(rig.finish());
  const Layout layout = layout_of(job_of(4, {{3, 2, 1, 0}}, std::move(programs)));
  EXPECT_EQ(layout.replica, (std::vector<uint32_t>{3, 2, 1, 0}));
  EXPECT_EQ(layout.like, (Groups{{0, 1, 2, 3}}));
}

/// A communicator that is called data parallel, of ranks that do different things.
TEST(Layout, ANameIsBelievedOnlyWhereItsRanksAreAlike) {
  std::vector<graph::Program> programs;
  for (Rank rank = 0; rank < 4; ++rank) {
    Rig rig(rank, 4);
    const uint32_t tp =
        rig.group("tp", rank < 2 ? std::vector<Rank>{0, 1} : std::vector<Rank>{2, 3});
    const uint32_t dp = rig.group(
        "embedding, dp rank", rank % 2 == 0 ? std::vector<Rank>{0, 2} : std::vector<Rank>{1, 3});
    rig.collective(Kind::AllReduce, tp, rank < 2 ? 8 : 16);
    rig.collective(Kind::AllReduce, dp);
    programs.push_back(rig.finish());
  }
  const Layout layout = layout_of(job_of(4, {{0}, {1}, {2}, {3}}, std::move(programs)));
  EXPECT_EQ(layout.like, (Groups{{0, 1}, {2, 3}}));
  EXPECT_EQ(layout.replica, (std::vector<uint32_t>{0, 1, 0, 1}));
}

}  // namespace
}  // namespace prism::analysis
