// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/noisy_prediction.hpp"

#include "core/replay/engine.hpp"

namespace prism::calibrate {
namespace {

/// Adds the times of the iterations that count to `found`.
Status add_iterations(const graph::IterationKind& kind, const graph::Times& times,
                      uint64_t eager_bytes, std::vector<DurationNs>& found) {
  replay::ReplayOptions options;
  options.eager_bytes = eager_bytes;
  options.analyse = false;
  PRISM_TRY_ASSIGN(const replay::ReplayResult result, replay::replay(kind.job, times, options));
  const bool alone = result.iteration_time.size() <= 1;
  for (const uint32_t iteration : graph::counted_iterations(kind)) {
    found.push_back(alone ? result.end : result.iteration_time[iteration]);
  }
  return {};
}

}  // namespace

Result<NoisyPrediction> predict_with_noise(const graph::IterationKind& kind,
                                           const std::vector<Rank>& times_from,
                                           const NoisyPredictionOptions& options) {
  PRISM_ASSERT(options.draws > 0);
  PRISM_TRY_ASSIGN(const Noise noise, Noise::estimate(kind, times_from));
  std::vector<DurationNs> measured;
  for (const graph::Sample& sample : kind.samples) {
    PRISM_TRY(add_iterations(kind, sample.times, options.eager_bytes, measured));
  }
  std::vector<DurationNs> drawn;
  for (uint32_t draw = 0; draw < options.draws; ++draw) {
    PRISM_TRY(add_iterations(kind, noise.draw(options.seed, draw), options.eager_bytes, drawn));
  }
  return NoisyPrediction{spread_of(measured), spread_of(drawn), noise.shares()};
}

}  // namespace prism::calibrate
