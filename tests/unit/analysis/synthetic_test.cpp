// SPDX-License-Identifier: Apache-2.0
/// Megatron-like jobs of known layout: tensor, data and pipeline parallel, plain and interleaved.
#include <gtest/gtest.h>

#include "core/analysis/attribution.hpp"
#include "core/analysis/layout.hpp"
#include "core/analysis/outcome.hpp"
#include "tests/synthetic/job.hpp"

namespace prism::analysis {
namespace {

using synthetic::Spec;

Spec spec_of(uint32_t tp, uint32_t pp, uint32_t dp) {
  Spec spec;
  spec.tp = tp;
  spec.pp = pp;
  spec.dp = dp;
  spec.micro_batches = 8;
  spec.layers_per_stage = 2;
  return spec;
}

graph::Job job_of(const Spec& spec) {
  Result<graph::Job> job = synthetic::make_job(spec);
  EXPECT_TRUE(job.ok()) << job.status().to_string();
  return std::move(job).value();
}

void expect_stages(const Spec& spec, const Layout& layout) {
  ASSERT_EQ(layout.stages, spec.pp);
  for (Rank rank = 0; rank < spec.world_size(); ++rank) {
    EXPECT_EQ(layout.stage[rank], static_cast<int32_t>(rank / (spec.tp * spec.dp))) << rank;
  }
}

TEST(Synthetic, StagesAreFoundWithAndWithoutNames) {
  for (const uint32_t chunks : {1U, 2U}) {
    Spec spec = spec_of(2, 4, 2);
    spec.chunks = chunks;
    graph::Job job = job_of(spec);
    expect_stages(spec, layout_of(job));
    for (graph::JobCommunicator& communicator : job.communicators) {
      communicator.name = communicator.description = "";
    }
    const Layout layout = layout_of(job);
    EXPECT_EQ(layout.stages_from, "who sends to whom first");
    expect_stages(spec, layout);
  }
}

TEST(Synthetic, AStragglerAndASlowStageAreNamed) {
  Spec spec = spec_of(1, 4, 4);
  spec.stage_factors = {1, 1, 1.3, 1};
  spec.stragglers = {{6, 1.5}};  // of stage 1
  const graph::Job job = job_of(spec);
  const Subject subject(job);
  const analysis::Run run{&subject, 0, {0}, synthetic::make_times(job, spec)};
  const Result<std::vector<DurationNs>> times = iteration_times(run, run.times);
  ASSERT_TRUE(times.ok()) << times.status().to_string();
  const Result<Attribution> attribution = attribute({run}, {*times});
  ASSERT_TRUE(attribution.ok()) << attribution.status().to_string();
  ASSERT_FALSE(attribution->ranks.empty());
  EXPECT_EQ(attribution->ranks.front().what, "rank 6");
  EXPECT_EQ(attribution->replicas.front().what, "replica 2");

  // Without the straggler it takes what the same job takes without it.
  spec.stragglers.clear();
  const graph::Times without = synthetic::make_times(job, spec);
  const Result<std::vector<DurationNs>> ideal = iteration_times(run, without);
  ASSERT_TRUE(ideal.ok());
  EXPECT_EQ(attribution->ranks.front().saved.median, times->front() - ideal->front());

  const analysis::Run even{&subject, 0, {0}, without};
  const Result<Attribution> stages = attribute({even}, {*ideal});
  ASSERT_TRUE(stages.ok());
  EXPECT_EQ(stages->stages.front().what, "stage 2");
  EXPECT_GT(stages->stages.front().share, 0.1);
}

}  // namespace
}  // namespace prism::analysis
