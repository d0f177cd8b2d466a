// SPDX-License-Identifier: Apache-2.0
/// Synthetic jobs are jobs that fit together, and their pipelines have the bubbles of the textbook.
#include "tests/synthetic/job.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>

#include "core/graph/check.hpp"
#include "core/replay/engine.hpp"

namespace prism::synthetic {
namespace {

using graph::Kind;

graph::Job must_make(const Spec& spec) {
  auto job = make_job(spec);
  EXPECT_TRUE(job.ok()) << job.status().to_string();
  if (!job.ok()) {
    return {};
  }
  const Status fits = graph::check(*job);
  EXPECT_TRUE(fits.ok()) << fits.to_string();
  return std::move(job).value();
}

replay::ReplayResult must_replay(const graph::Job& job, const graph::Times& times = {}) {
  auto result = replay::replay(job, times, {});
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return result.ok() ? std::move(result).value() : replay::ReplayResult{};
}

/// Only the layers' own kernels take time.
Durations layers_only(DurationNs forward, DurationNs backward) {
  Durations d{};
  for (DurationNs* of : {&d.launch, &d.python, &d.attention_forward, &d.attention_backward,
                         &d.optimizer, &d.tensor_reduce, &d.expert_exchange, &d.activations,
                         &d.gradients, &d.parameters, &d.embedding, &d.norm}) {
    *of = 0;
  }
  d.mlp_forward = forward;
  d.mlp_backward = backward;
  return d;
}

constexpr uint32_t kStream = 1;  // lane

void expect_textbook_bubble(const Spec& spec) {
  SCOPED_TRACE(testing::Message() << "tp " << spec.tp << " pp " << spec.pp << " dp " << spec.dp
                                  << " ep " << spec.ep << " m " << spec.micro_batches << " v "
                                  << spec.chunks);
  const replay::ReplayResult result = must_replay(must_make(spec));
  const DurationNs both = spec.durations.mlp_forward + spec.durations.mlp_backward;
  const uint32_t passes = spec.chunks * spec.micro_batches;
  const DurationNs pass = both * spec.layers_per_stage / spec.chunks;
  // Bubble over whole: (p - 1) / (v m + p - 1).
  ASSERT_EQ(result.iteration_time.size(), spec.iterations);
  for (const DurationNs time : result.iteration_time) {
    EXPECT_EQ(time, (passes + spec.pp - 1) * pass);
  }
  for (const replay::ClassTimes& stage : result.classes) {
    EXPECT_EQ(stage.lanes[kStream].least, spec.iterations * passes * pass);
    EXPECT_EQ(stage.lanes[kStream].most, spec.iterations * passes * pass);
  }
}

TEST(SyntheticJob, Has1F1BsBubble) {
  for (const uint32_t stages : {1U, 2U, 4U, 8U, 16U}) {
    for (const uint32_t micro_batches : {1U, 3U, stages, 2 * stages, 4 * stages + 1}) {
      Spec spec;
      spec.pp = stages;
      spec.micro_batches = micro_batches;
      spec.layers_per_stage = 2;
      spec.iterations = 2;
      spec.durations = layers_only(1000, 2300);
      expect_textbook_bubble(spec);
    }
  }
}

TEST(SyntheticJob, HasTheInterleavedSchedulesBubble) {
  for (const uint32_t stages : {3U, 4U, 8U}) {
    for (const uint32_t groups : {1U, 2U, 5U}) {
      for (const uint32_t chunks : {2U, 3U, 4U}) {
        Spec spec;
        spec.pp = stages;
        spec.micro_batches = groups * stages;
        spec.chunks = chunks;
        spec.layers_per_stage = 2 * chunks;
        spec.durations = layers_only(1000, 2300);
        expect_textbook_bubble(spec);
      }
    }
  }
}

TEST(SyntheticJob, OtherGroupsDoNotChangeTheBubbleWhereLinksAreFree) {
  Spec spec;
  spec.tp = 2;
  spec.pp = 4;
  spec.dp = 4;
  spec.micro_batches = 8;
  spec.layers_per_stage = 2;
  spec.durations = layers_only(1000, 2300);
  for (const uint32_t ep : {1U, 2U, 4U}) {
    for (const uint32_t chunks : {1U, 2U}) {
      for (const bool overlap : {false, true}) {
        spec.ep = ep;
        spec.chunks = chunks;
        spec.overlap_gradients = overlap;
        expect_textbook_bubble(spec);
      }
    }
  }
}

TEST(SyntheticJob, GroupsOfAllRanksAreMegatrons) {
  Spec spec;
  spec.tp = 2;
  spec.pp = 3;
  spec.dp = 4;
  spec.ep = 2;
  const graph::Job job = must_make(spec);
  std::map<std::string, std::set<std::vector<Rank>>> groups;
  for (const graph::JobCommunicator& c : job.communicators) {
    groups[c.description].insert(c.ranks);
    EXPECT_FALSE(c.synthesised);
  }
  EXPECT_EQ(groups["TENSOR_MODEL_PARALLEL_GROUP"].size(), 12U);
  EXPECT_EQ(groups["TENSOR_MODEL_PARALLEL_GROUP"].count({10, 11}), 1U);
  EXPECT_EQ(groups["DATA_PARALLEL_GROUP_WITH_CP"].size(), 6U);
  EXPECT_EQ(groups["DATA_PARALLEL_GROUP_WITH_CP"].count({9, 11, 13, 15}), 1U);
  EXPECT_EQ(groups["EXPERT_MODEL_PARALLEL_GROUP"].count({12, 14}), 1U);
  EXPECT_EQ(groups["EXPERT_DATA_PARALLEL_GROUP"].count({10, 14}), 1U);
  EXPECT_EQ(groups["PIPELINE_MODEL_PARALLEL_GROUP"].size(), 8U);
  EXPECT_EQ(groups["PIPELINE_MODEL_PARALLEL_GROUP"].count({3, 11, 19}), 1U);
  EXPECT_EQ(groups["EMBEDDING_GROUP"].count({3, 19}), 1U);
  EXPECT_EQ(groups["INTRA_DISTRIBUTED_OPTIMIZER_INSTANCE_GROUP"].size(), 1U);
  // Each rank is in the group that contains it.
  for (Rank rank = 0; rank < job.world_size; ++rank) {
    for (uint32_t slot = 0; slot < job.program(rank).communicators.size(); ++slot) {
      const uint32_t c = job.communicator(rank, slot);
      if (c != graph::kNone) {
        EXPECT_NE(graph::position_of(job.communicators[c], rank), graph::kNone);
      }
    }
  }
}

TEST(SyntheticJob, NodesAreLabelled) {
  Spec spec;
  spec.tp = 2;
  spec.pp = 4;
  spec.micro_batches = 4;
  spec.chunks = 2;
  spec.layers_per_stage = 4;
  const graph::Job job = must_make(spec);
  const graph::Program& program = job.classes[1].program;
  ASSERT_EQ(program.labels.size(), program.nodes.size());
  std::set<int32_t> layers;
  for (uint32_t id = 0; id < program.nodes.size(); ++id) {
    const graph::Labels& labels = program.labels[id];
    if (program.texts[labels.name] == "attention") {
      EXPECT_EQ(labels.layer / 2 % 4, 1) << "layers of the stage";
      EXPECT_EQ(labels.layer / 8, labels.chunk);
      layers.insert(labels.layer);
    }
  }
  EXPECT_EQ(layers, (std::set<int32_t>{2, 3, 10, 11}));
}

TEST(SyntheticJob, GradientsOverlapWithTheBackwardPass) {
  Spec spec;
  spec.dp = 2;
  spec.layers_per_stage = 4;
  spec.durations = layers_only(1000, 2000);
  spec.durations.gradients = 1500;
  EXPECT_EQ(must_replay(must_make(spec)).end, 4 * 3000 + 1500);
  spec.overlap_gradients = false;
  EXPECT_EQ(must_replay(must_make(spec)).end, 4 * 3000 + 4 * 1500);
}

TEST(SyntheticJob, OneStageTwiceAsSlow) {
  Spec spec;
  spec.pp = 2;
  spec.micro_batches = 4;
  spec.durations = layers_only(100, 200);
  spec.stage_factors = {1, 2};
  EXPECT_EQ(must_replay(must_make(spec)).end, 100 + 4 * 600 + 200);
}

TEST(SyntheticTimes, NoRanksWaitForEachOtherInACircle) {
  Spec spec;
  spec.tp = 2;
  spec.pp = 4;
  spec.dp = 4;
  spec.layers_per_stage = 6;
  spec.iterations = 2;
  spec.jitter = 0.5;
  for (const uint32_t micro_batches : {4U, 8U, 20U}) {
    for (const uint32_t chunks : {1U, 2U, 3U}) {
      for (const uint32_t ep : {1U, 2U}) {
        spec.micro_batches = micro_batches;
        spec.chunks = chunks;
        spec.ep = ep;
        const graph::Job job = must_make(spec);
        EXPECT_GT(must_replay(job, make_times(job, spec)).end, must_replay(job).end);
      }
    }
  }
}

TEST(SyntheticTimes, AStragglerHoldsAllUp) {
  Spec spec;
  spec.dp = 4;
  spec.durations = layers_only(1000, 2000);
  const graph::Job job = must_make(spec);
  spec.stragglers = {{2, 1.5}};
  const graph::Times times = make_times(job, spec);
  EXPECT_EQ(times.sets.size(), 1U);
  EXPECT_EQ(must_replay(job, times).end, 4500);
}

TEST(SyntheticTimes, JitterHasItsMeanAndDeviation) {
  Spec spec;
  spec.dp = 64;
  spec.layers_per_stage = 50;
  spec.durations = layers_only(1'000'000, 1'000'000);
  spec.jitter = 0.1;
  const graph::Job job = must_make(spec);
  const graph::Times times = make_times(job, spec);
  EXPECT_EQ(times, make_times(job, spec));
  EXPECT_NE(times, make_times(job, spec, 1));
  double sum = 0;
  double squares = 0;
  double count = 0;
  for (Rank rank = 0; rank < job.world_size; ++rank) {
    for (uint32_t node = 0; node < job.program(rank).nodes.size(); ++node) {
      if (job.program(rank).nodes[node].duration > 0) {
        const double value = static_cast<double>(times.of(rank)->durations[node]) / 1e6;
        sum += value;
        squares += value * value;
        ++count;
      }
    }
  }
  const double mean = sum / count;
  EXPECT_NEAR(mean, 1, 5 * 0.1 / std::sqrt(count));
  EXPECT_NEAR(std::sqrt(squares / count - mean * mean), 0.1, 5 * 0.1 / std::sqrt(count));
}

TEST(SyntheticTrace, RanksHaveTheTimesOfTheMeasuredReplica) {
  Spec spec;
  spec.tp = 2;
  spec.pp = 2;
  spec.dp = 2;
  spec.jitter = 0.1;
  auto trace = make_trace(spec, 3);
  ASSERT_TRUE(trace.ok()) << trace.status().to_string();
  EXPECT_EQ(trace->times_from, (std::vector<Rank>{0, 0, 0, 0, 4, 4, 4, 4}));
  const graph::IterationKind& kind = trace->kinds.front();
  ASSERT_EQ(kind.samples.size(), 3U);
  EXPECT_EQ(*kind.samples[2].times.of(6), *make_times(kind.job, spec, 2).of(4));
  EXPECT_NE(kind.samples[1].times, kind.samples[2].times);
}

TEST(SyntheticJob, RefusesWhatMegatronRefuses) {
  const auto refused = [](auto change) {
    Spec spec;
    spec.pp = 4;
    spec.dp = 4;
    spec.micro_batches = 8;
    spec.layers_per_stage = 2;
    change(spec);
    return !make_job(spec).ok();
  };
  EXPECT_FALSE(refused([](Spec&) {}));
  EXPECT_TRUE(refused([](Spec& s) { s.tp = 0; }));
  EXPECT_TRUE(refused([](Spec& s) { s.ep = 3; }));
  EXPECT_TRUE(refused([](Spec& s) { s.layers_per_stage = 3, s.chunks = 2; }));
  EXPECT_TRUE(refused([](Spec& s) { s.micro_batches = 6, s.chunks = 2; }));
  EXPECT_TRUE(refused([](Spec& s) { s.pp = 2, s.chunks = 2; }));
  EXPECT_TRUE(refused([](Spec& s) { s.stage_factors = {1, 2}; }));
  EXPECT_TRUE(refused([](Spec& s) { s.stragglers = {{16, 2.0}}; }));
}

}  // namespace
}  // namespace prism::synthetic
