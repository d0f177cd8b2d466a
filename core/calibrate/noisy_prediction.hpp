// SPDX-License-Identifier: Apache-2.0
/// The iteration time of a job whose ranks are noisy, each for itself (architecture 7).
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/statistics.hpp"
#include "core/base/status.hpp"
#include "core/calibrate/noise.hpp"
#include "core/graph/trace.hpp"

namespace prism::calibrate {

struct NoisyPredictionOptions {
  uint32_t draws = 40;  ///< replays with noise; at least 1
  uint64_t seed = 1;
  uint64_t eager_bytes = 64 * 1024;  ///< as in ReplayOptions
};

/// Iteration times: median, and where 95 % of the replayed iterations lie.
struct NoisyPrediction {
  Spread headline;    ///< the samples as they were measured: ranks that share times share noise
  Spread with_noise;  ///< each draw has the common noise of a run (the runs are resampled) and
                      ///< independent noise of each rank
  std::vector<NoiseShares> shares;  ///< by group of ranks, as in Noise
};

/// Replays every sample of `kind`, and as many draws as the options say. That levels are means of
/// few runs is not in the interval; it would be wider by about sqrt(1 + 1 / runs).
/// Errors: those of Noise::estimate and of the replay. One thread.
Result<NoisyPrediction> predict_with_noise(const graph::IterationKind& kind,
                                           const std::vector<Rank>& times_from,
                                           const NoisyPredictionOptions& options);

}  // namespace prism::calibrate
