// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/attribution.hpp"

#include <gtest/gtest.h>

#include "core/analysis/edit.hpp"
#include "core/analysis/outcome.hpp"
#include "tests/unit/analysis/pipeline_job.hpp"

namespace prism::analysis {
namespace {

using test::PipelineSpec;

const Responsible* find(const std::vector<Responsible>& list, const std::string& what) {
  for (const Responsible& one : list) {
    if (one.what == what) {
      return &one;
    }
  }
  return nullptr;
}

TEST(Attribution, TheSlowStageAndTheSlowRankAreNamed) {
  const PipelineSpec spec{.stages = 4, .replicas = 2, .forward = {1000, 1000, 3000, 1000}};
  const graph::Job job = test::pipeline_job(spec);
  const Subject subject(job);
  analysis::Run run{&subject, 5, {0}, {}};
  const Result<Edit> slow = Edit::parse(Operation::Scale, "rank=1 kind=compute factor=1.1");
  ASSERT_TRUE(slow->apply(subject, 5, run.times).ok());
  const Result<std::vector<DurationNs>> times = iteration_times(run, run.times);
  ASSERT_TRUE(times.ok());
  const Result<Attribution> attribution = attribute({run}, {*times});
  ASSERT_TRUE(attribution.ok()) << attribution.status().to_string();

  // Stage 2 at 1000: what the slow rank of stage 0 costs then remains.
  PipelineSpec level = spec;
  level.forward[2] = 1000;
  level.forward[0] = 1100;
  ASSERT_EQ(attribution->stages.front().what, "stage 2");
  EXPECT_EQ(attribution->stages.front().saved.median, times->front() - test::pipeline_time(level));
  EXPECT_EQ(attribution->stages.front().level, "--level 'stage=2 kind=compute peers=stages'");
  EXPECT_DOUBLE_EQ(attribution->stages.front().share,
                   static_cast<double>(attribution->stages.front().saved.median) /
                       static_cast<double>(times->front()));

  // Only two ranks differ from their replicas, and each is the other's peer.
  ASSERT_EQ(attribution->ranks.size(), 2U);
  EXPECT_EQ(attribution->ranks.front().what, "rank 1");
  EXPECT_EQ(attribution->ranks.front().saved.median, times->front() - test::pipeline_time(spec));
  EXPECT_LT(find(attribution->ranks, "rank 0")->saved.median, 1);
  EXPECT_EQ(attribution->replicas.front().what, "replica 1");
  EXPECT_EQ(attribution->ranks_left_out, 0U);
  EXPECT_NE(find(attribution->kinds, "compute"), nullptr);
  EXPECT_EQ(find(attribution->kinds, "send")->saved.median, 0);
}

TEST(Attribution, ManyRanksAreCapped) {
  const PipelineSpec spec{.stages = 2, .replicas = 20, .micro_batches = 1, .forward = {1000, 1000}};
  const graph::Job job = test::pipeline_job(spec);
  const Subject subject(job);
  analysis::Run run{&subject, 0, {0}, {}};
  for (const char* text : {"rank=\"rank % 2 == 1\" factor=1.1", "rank=7 factor=3"}) {
    ASSERT_TRUE(Edit::parse(Operation::Scale, text)->apply(subject, 0, run.times).ok());
  }
  const Result<std::vector<DurationNs>> times = iteration_times(run, run.times);
  ASSERT_TRUE(times.ok());
  const Result<Attribution> attribution = attribute({run}, {*times});
  ASSERT_TRUE(attribution.ok());
  EXPECT_EQ(attribution->ranks.size(), kMostCandidates);
  EXPECT_EQ(attribution->ranks.front().what, "rank 7");
  EXPECT_EQ(attribution->ranks_left_out, 40U - kMostCandidates);
  EXPECT_EQ(attribution->replicas_left_out, 4U);
}

TEST(Attribution, RanksWithoutLikeOnesHaveNoPeers) {
  const graph::Job job = test::pipeline_job({.stages = 1, .replicas = 1, .forward = {1000}});
  const Subject subject(job);
  const analysis::Run run{&subject, 0, {0}, {}};
  const Result<Attribution> attribution = attribute({run}, {{12000}});
  ASSERT_TRUE(attribution.ok());
  EXPECT_TRUE(attribution->stages.empty());
  EXPECT_TRUE(attribution->replicas.empty());
  EXPECT_TRUE(attribution->ranks.empty());
}

TEST(Outcome, TheCriticalPathIsToldByKindStageAndRank) {
  const PipelineSpec spec{.stages = 3, .replicas = 1, .forward = {1000, 5000, 1000}};
  const graph::Job job = test::pipeline_job(spec);
  const Subject subject(job);
  const Result<PathSummary> path = path_summary({&subject, 9, {0}, {}}, {}, 0);
  ASSERT_TRUE(path.ok()) << path.status().to_string();
  EXPECT_EQ(path->iteration, 9U);
  EXPECT_EQ(path->length, test::pipeline_time(spec));
  ASSERT_EQ(path->by_kind.size(), 1U);
  EXPECT_EQ(path->by_kind.front(), (std::pair<std::string, DurationNs>{"compute", path->length}));
  EXPECT_EQ(path->by_stage.front().first, 1);
  DurationNs sum = path->before;
  for (const auto& [rank, duration] : path->by_rank) {
    sum += duration;
  }
  EXPECT_EQ(sum, path->length);
  EXPECT_EQ(path->longest.front().rank, 1U);
  EXPECT_EQ(path->longest.front().name, "backward-compute");
}

}  // namespace
}  // namespace prism::analysis
