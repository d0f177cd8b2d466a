// SPDX-License-Identifier: Apache-2.0
/// The noise of a real job (dp 2, pp 4, 32 steps), drawn, against the steps as they were; and the
/// job predicted from one of its two replicas. What is random in it are the data: over 512
/// micro-batches the durations of neighbouring stages correlate by 0.9.
#include "core/calibrate/noise.hpp"

#include <cstdio>
#include <functional>
#include <gtest/gtest.h>

#include "tests/integration/trace/imported.hpp"
#include "tests/real_data.hpp"

namespace prism::trace_test {
namespace {

using calibrate::Observation;

constexpr uint32_t kStages = 4;

/// Nodes by lane.
std::vector<std::vector<uint32_t>> lanes_of(const graph::Program& program) {
  std::vector<std::vector<uint32_t>> lanes(program.lanes.size());
  for (uint32_t node = 0; node < program.nodes.size(); ++node) {
    lanes[program.nodes[node].lane].push_back(node);
  }
  return lanes;
}

/// The times of `from` by the nodes of `to`: the importer numbers the nodes of a step in the order
/// in which they began, which is the same on each lane but not between lanes.
Result<graph::RankTimes> times_of(const graph::Program& from, const graph::RankTimes& measured,
                                  const graph::Program& to) {
  const auto from_lanes = lanes_of(from);
  const auto to_lanes = lanes_of(to);
  graph::RankTimes times = graph::columns_of(to, nullptr);
  for (size_t lane = 0; lane < to_lanes.size(); ++lane) {
    if (from.lanes != to.lanes || from_lanes[lane].size() != to_lanes[lane].size()) {
      return run_error("lanes differ");
    }
    for (size_t n = 0; n < to_lanes[lane].size(); ++n) {
      const graph::Node& source = from.nodes[from_lanes[lane][n]];
      const graph::Node& node = to.nodes[to_lanes[lane][n]];
      if (source.kind != node.kind || source.part_count != node.part_count) {
        return run_error("nodes differ");
      }
      times.durations.set(to_lanes[lane][n], measured.durations[from_lanes[lane][n]]);
      times.gaps.set(to_lanes[lane][n], measured.gaps[from_lanes[lane][n]]);
      for (uint32_t p = 0; p < node.part_count; ++p) {
        times.parts.set(node.first_part + p, measured.parts[source.first_part + p]);
      }
    }
  }
  return times;
}

double seconds(DurationNs ns) {
  return 1e-9 * static_cast<double>(ns);
}

class MeasuredJob : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_plugin("microbatch")) {
      GTEST_SKIP() << "the plugin microbatch is not built";
    }
    const std::string path = test::real_data("bytedance-ST/trace-ST.csv");
    if (path.empty()) {
      GTEST_SKIP() << test::kNoRealData;
    }
    Result<Observation> observation = import_trace("microbatch", {{path, std::nullopt}});
    ASSERT_TRUE(observation.ok()) << observation.status().to_string();
    auto calibrated = calibrate::calibrate(*observation, {});
    ASSERT_TRUE(calibrated.ok()) << calibrated.status().to_string();
    for (const graph::IterationKind& kind : calibrated->trace.kinds) {
      for (const graph::Sample& sample : kind.samples) {
        add_sample(kind.job, sample);
      }
    }
    ASSERT_EQ(kind_.samples.size(), 32U);
  }

  /// Ranks 2 s and 2 s + 1 are the replicas of stage s.
  void add_sample(const graph::Job& job, const graph::Sample& step) {
    if (kind_.samples.empty()) {
      std::vector<std::vector<Rank>> classes;
      std::vector<graph::Program> programs;
      for (uint32_t stage = 0; stage < kStages; ++stage) {
        classes.push_back({2 * stage, 2 * stage + 1});
        programs.push_back(job.program(2 * stage));
      }
      auto all = graph::instantiate(job.world_size, classes, std::move(programs));
      ASSERT_TRUE(all.ok()) << all.status().to_string();
      kind_.job = std::move(all).value();
    }
    graph::Sample& sample = kind_.samples.emplace_back();
    sample.iteration = step.iteration;
    for (Rank rank = 0; rank < job.world_size; ++rank) {
      const graph::Program& program = job.program(rank);
      auto times = times_of(program, graph::columns_of(program, step.times.of(rank)),
                            kind_.job.program(rank));
      ASSERT_TRUE(times.ok()) << "step " << step.iteration << ", rank " << rank << ": "
                              << times.status().to_string();
      sample.times.set_of.push_back(rank);
      sample.times.sets.push_back(std::move(times).value());
    }
  }

  graph::IterationKind kind_;
};

/// Replays of one step each differ by 2 %: the mean of 32 is known to 0.4 %.
constexpr double kTolerance = 0.006;
constexpr uint32_t kDraws = 400;

double mean_of(const graph::IterationKind& kind, const std::function<graph::Times(uint32_t)>& times,
               uint32_t count) {
  double sum = 0;
  for (uint32_t i = 0; i < count; ++i) {
    auto result = replay::replay(kind.job, times(i), {});
    EXPECT_TRUE(result.ok()) << result.status().to_string();
    sum += seconds(result->end) / count;
  }
  return sum;
}

double as_measured(const graph::IterationKind& kind) {
  return mean_of(
      kind, [&](uint32_t i) { return kind.samples[i].times; },
      static_cast<uint32_t>(kind.samples.size()));
}

double with_noise(const graph::IterationKind& kind, const std::vector<Rank>& times_from) {
  auto noise = calibrate::Noise::estimate(kind, times_from);
  EXPECT_TRUE(noise.ok()) << noise.status().to_string();
  for (const calibrate::NoiseShares& s : noise->shares()) {
    std::printf("%u of %zu measured: common %.2f, persistent %.2f, independent %.2f\n",
                s.measured_ranks, s.ranks.size(), s.common, s.persistent, s.independent);
  }
  return mean_of(
      kind, [&](uint32_t i) { return noise->draw(1, i); }, kDraws);
}

TEST_F(MeasuredJob, StepsWithDrawnNoiseTakeAsLongAsThoseMeasured) {
  const double truth = as_measured(kind_);
  const double drawn = with_noise(kind_, {0, 1, 2, 3, 4, 5, 6, 7});
  std::printf("both replicas: %.4f s, with noise %+.2f %%\n", truth, 100 * (drawn / truth - 1));
  EXPECT_NEAR(drawn / truth, 1, kTolerance);
}

TEST_F(MeasuredJob, OneReplicaPredictsBoth) {
  const double truth = as_measured(kind_);
  for (const Rank replica : {0U, 1U}) {
    std::vector<Rank> times_from;
    for (Rank rank = 0; rank < 2 * kStages; ++rank) {
      times_from.push_back(rank - rank % 2 + replica);
    }
    graph::IterationKind shared = kind_;
    for (graph::Sample& sample : shared.samples) {
      sample.times.set_of = times_from;
    }
    const double without = as_measured(shared);
    const double drawn = with_noise(shared, times_from);
    std::printf("replica %u alone: shared %+.2f %%, with noise %+.2f %%\n", replica,
                100 * (without / truth - 1), 100 * (drawn / truth - 1));
    EXPECT_LT(without, truth) << "two replicas are slower than one";
    EXPECT_NEAR(drawn / truth, 1, kTolerance);
  }
}

}  // namespace
}  // namespace prism::trace_test
