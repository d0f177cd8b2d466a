// SPDX-License-Identifier: Apache-2.0
/// A real job at the granularity of micro-batches (dp 2, pp 4, 32 steps), against its measured step
/// times: the span from a step's first start to its last end.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "core/base/statistics.hpp"
#include "tests/integration/trace/imported.hpp"
#include "tests/real_data.hpp"

namespace prism::trace_test {
namespace {

using calibrate::Observation;

/// Steps in ascending order, seconds; from the object "step_t_base" of a result file.
std::vector<double> step_times(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  size_t at = all.find('{', all.find("\"step_t_base\""));
  const size_t end = all.find('}', at);
  std::map<int, double> times;
  while ((at = all.find('"', at + 1)) < end) {
    const int step = std::stoi(all.substr(at + 1));
    at = all.find(':', at);
    times[step] = std::stod(all.substr(at + 1));
  }
  std::vector<double> result;
  for (const auto& [step, time] : times) {
    result.push_back(time);
  }
  return result;
}

struct Deviation {
  double mean = 0;
  double worst = 0;
};

class StragglerJob : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!has_plugin("microbatch")) {
      GTEST_SKIP() << "the plugin microbatch is not built";
    }
    const std::string path = test::real_data(std::string("bytedance-ST/") + GetParam());
    if (path.empty()) {
      GTEST_SKIP() << test::kNoRealData;
    }
    Result<Observation> observation = import_trace("microbatch", {{path, std::nullopt}});
    ASSERT_TRUE(observation.ok()) << observation.status().to_string();
    observation_ = std::move(observation).value();
    truth_ = step_times(test::real_data("bytedance-ST/result-ST.json"));
    ASSERT_EQ(truth_.size(), 32U);
    ASSERT_EQ(calibrate::Iterations(observation_).numbers().size(), truth_.size());
  }

  Deviation deviation() const {
    Deviation result;
    const Result<Calibrated> job = calibrate_and_replay(observation_, /*whole=*/false);
    EXPECT_TRUE(job.ok()) << job.status().to_string();
    EXPECT_EQ(job->iterations.size(), truth_.size());
    for (size_t s = 0; s < job->iterations.size(); ++s) {
      const double error = std::abs(
          static_cast<double>(job->replayed[s].end) / 1e9 / truth_[job->iterations[s]] - 1);
      result.mean += error / static_cast<double>(truth_.size());
      result.worst = std::max(result.worst, error);
    }
    return result;
  }

  Observation observation_;
  std::vector<double> truth_;
};

TEST_P(StragglerJob, StepsComeBackWithTheirOwnGapsAndTransfers) {
  const Deviation found = deviation();
  RecordProperty("mean", std::to_string(found.mean));
  EXPECT_LT(found.mean, 0.002);
  EXPECT_LT(found.worst, 0.0035);
}

/// Each pipeline stage is a slice with a clock of its own that runs by another offset.
TEST_P(StragglerJob, StepsComeBackFromSlicesWithoutACommonClock) {
  for (const uint64_t seed : {1U, 2U, 3U}) {
    set_clocks(observation_, {{0, 1}, {2, 3}, {4, 5}, {6, 7}}, seed);
    const Deviation found = deviation();
    std::printf("slices, seed %llu: mean %.4f %%, worst %.4f %%\n",
                static_cast<unsigned long long>(seed), 100 * found.mean, 100 * found.worst);
    EXPECT_LT(found.worst, 0.01) << "seed " << seed;
  }
}

/// Of each number of a column, the median over the other samples.
graph::Column median_of_others(const graph::IterationKind& kind, size_t sample, Rank rank,
                               graph::Column graph::RankTimes::*column) {
  graph::Column result(((*kind.samples[sample].times.of(rank)).*column).size());
  for (size_t i = 0; i < result.size(); ++i) {
    std::vector<DurationNs> others;
    others.reserve(kind.samples.size());
    for (size_t other = 0; other < kind.samples.size(); ++other) {
      if (other != sample) {
        others.push_back(((*kind.samples[other].times.of(rank)).*column)[i]);
      }
    }
    result.set(i, quantile(std::move(others), 0.5));
  }
  return result;
}

/// A step's own computation; gaps and transfers are the medians of the other steps.
graph::Times own_computation(const graph::IterationKind& kind, size_t sample) {
  graph::Times times = kind.samples[sample].times;
  for (Rank rank = 0; rank < kind.job.world_size; ++rank) {
    graph::RankTimes& set = times.sets[times.set_of[rank]];
    const graph::Column durations =
        median_of_others(kind, sample, rank, &graph::RankTimes::durations);
    set.gaps = median_of_others(kind, sample, rank, &graph::RankTimes::gaps);
    set.parts = median_of_others(kind, sample, rank, &graph::RankTimes::parts);
    const graph::Program& program = kind.job.program(rank);
    for (uint32_t node = 0; node < program.nodes.size(); ++node) {
      if (program.nodes[node].kind != graph::Kind::Compute) {
        set.durations.set(node, durations[node]);
      }
    }
  }
  return times;
}

/// How well a step is predicted from its computation alone, beside the baseline that takes the
/// median of all steps.
TEST_P(StragglerJob, StepsFollowFromTheirComputation) {
  const Result<calibrate::Calibrated> calibrated = calibrate::calibrate(observation_, {});
  ASSERT_TRUE(calibrated.ok()) << calibrated.status().to_string();
  ASSERT_EQ(calibrated->trace.kinds.size(), 1U);
  const graph::IterationKind& kind = calibrated->trace.kinds.front();
  std::vector<double> sorted = truth_;
  std::sort(sorted.begin(), sorted.end());
  const double median = (sorted[15] + sorted[16]) / 2;
  std::vector<double> errors;
  std::vector<double> of_baseline;
  Deviation found;
  Deviation baseline;
  for (size_t s = 0; s < kind.samples.size(); ++s) {
    replay::ReplayOptions options;
    options.analyse = false;
    const Result<replay::ReplayResult> replayed =
        replay::replay(kind.job, own_computation(kind, s), options);
    ASSERT_TRUE(replayed.ok()) << replayed.status().to_string();
    const double truth = truth_[kind.samples[s].iteration];
    const double error = std::abs(static_cast<double>(replayed->end) / 1e9 / truth - 1);
    errors.push_back(error);
    const double of_median = std::abs(median / truth - 1);
    of_baseline.push_back(of_median);
    const auto steps = static_cast<double>(truth_.size());
    found = {found.mean + error / steps, std::max(found.worst, error)};
    baseline = {baseline.mean + of_median / steps, std::max(baseline.worst, of_median)};
  }
  std::sort(errors.begin(), errors.end());
  std::sort(of_baseline.begin(), of_baseline.end());
  std::printf(
      "gaps and transfers of the other steps: mean %.2f %%, worst %.2f %%, half within %.2f "
      "%%; median of all steps: mean %.2f %%, worst %.2f %%, half within %.2f %%\n",
      100 * found.mean, 100 * found.worst, 100 * errors[16], 100 * baseline.mean,
      100 * baseline.worst, 100 * of_baseline[16]);
  // The two longest steps have pauses of their own, which no other step shows: they are the worst.
  EXPECT_LT(found.mean, baseline.mean);
  EXPECT_LT(errors[16], of_baseline[16] / 2);
}

INSTANTIATE_TEST_SUITE_P(Files, StragglerJob,
                         testing::Values("timeline-ST.json.gz", "trace-ST.csv"),
                         [](const auto& file) {
                           return std::string(file.param).find("json") == std::string::npos
                                      ? "Csv"
                                      : "Json";
                         });

}  // namespace
}  // namespace prism::trace_test
