// SPDX-License-Identifier: Apache-2.0
/// One replica of a noisy job, measured a few times, predicts the job of which every rank is noisy.
#include <cstdio>
#include <gtest/gtest.h>

#include "core/calibrate/noisy_prediction.hpp"
#include "core/replay/engine.hpp"
#include "tests/synthetic/job.hpp"

namespace prism::calibrate {
namespace {

constexpr uint32_t kRepeats = 5;
constexpr uint32_t kTruths = 20;

/// Mean iteration time of runs in which every rank has noise of its own.
double truth_of(const graph::Job& job, const synthetic::Spec& spec) {
  double sum = 0;
  for (uint32_t run = 0; run < kTruths; ++run) {
    auto result = replay::replay(job, synthetic::make_times(job, spec, 1000 + run), {});
    EXPECT_TRUE(result.ok()) << result.status().to_string();
    sum += static_cast<double>(result->end) / kTruths;
  }
  return sum;
}

TEST(NoisyPrediction, OneReplicaPredictsTheNoisyJob) {
  synthetic::Spec spec;
  spec.tp = 2;
  spec.pp = 4;
  spec.dp = 32;
  spec.micro_batches = 16;
  spec.layers_per_stage = 4;
  spec.jitter = 0.1;
  auto trace = synthetic::make_trace(spec, kRepeats);
  ASSERT_TRUE(trace.ok()) << trace.status().to_string();
  const graph::IterationKind& kind = trace->kinds.front();
  auto prediction = predict_with_noise(kind, trace->times_from, {.draws = 20});
  ASSERT_TRUE(prediction.ok()) << prediction.status().to_string();
  const double truth = truth_of(kind.job, spec);
  const double shared = static_cast<double>(prediction->headline.median) / truth - 1;
  const double noisy = static_cast<double>(prediction->with_noise.median) / truth - 1;
  std::printf("%u ranks, jitter %.0f %%: shared times %+.2f %%, with noise %+.2f %%\n",
              spec.world_size(), 100 * spec.jitter, 100 * shared, 100 * noisy);
  EXPECT_LT(shared, -0.04);
  EXPECT_NEAR(noisy, 0, 0.007);
  EXPECT_GT(prediction->with_noise.low, prediction->headline.high);
}

}  // namespace
}  // namespace prism::calibrate
