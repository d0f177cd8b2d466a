// SPDX-License-Identifier: Apache-2.0
/// A real job at the granularity of micro-batches (dp 2, pp 4, 32 steps), against its measured step
/// times: the span from a step's first start to its last end.
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

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

INSTANTIATE_TEST_SUITE_P(Files, StragglerJob,
                         testing::Values("timeline-ST.json.gz", "trace-ST.csv"),
                         [](const auto& file) {
                           return std::string(file.param).find("json") == std::string::npos
                                      ? "Csv"
                                      : "Json";
                         });

}  // namespace
}  // namespace prism::trace_test
