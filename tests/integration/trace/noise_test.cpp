// SPDX-License-Identifier: Apache-2.0
/// The noise of a real job (dp 2, pp 4, 32 steps), drawn, against the steps as they were; and the
/// job predicted from one of its two replicas. What is random in it are the data: over 512
/// micro-batches the durations of neighbouring stages correlate by 0.9.
#include "core/calibrate/noise.hpp"

#include <cstdio>
#include <functional>
#include <gtest/gtest.h>
#include <utility>

#include "core/graph/replicas.hpp"
#include "tests/integration/trace/imported.hpp"
#include "tests/real_data.hpp"

namespace prism::trace_test {
namespace {

using calibrate::Observation;

constexpr uint32_t kStages = 4;

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
    ASSERT_EQ(calibrated->trace.kinds.size(), 1U) << calibrated->trace.kinds[1].difference;
    kind_ = std::move(calibrated->trace.kinds.front());
    const graph::Replicas replicas = graph::replicas_of(kind_.job);
    ASSERT_EQ(replicas.groups.size(), kStages);
    for (Rank rank = 0; rank < 2 * kStages; ++rank) {
      ASSERT_EQ(replicas.group_of[rank], rank / 2);
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
    std::printf("%u measured: common %.2f, persistent %.2f, independent %.2f\n", s.measured_ranks,
                s.common, s.persistent, s.independent);
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
