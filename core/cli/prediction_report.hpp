// SPDX-License-Identifier: Apache-2.0
/// What `prism predict` has found, as text and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/status.hpp"
#include "core/calibrate/noisy_prediction.hpp"
#include "core/graph/trace.hpp"
#include "core/replay/engine.hpp"
#include "core/replay/predict.hpp"

namespace prism::cli {

struct PredictionReport {
  const graph::Trace* trace = nullptr;
  replay::Prediction prediction;
  /// Of the most frequent kind of iteration, where it was measured more than once.
  std::optional<calibrate::NoisyPrediction> noisy;
  /// The sample of that kind whose time is nearest to the median.
  replay::ReplayResult typical;
  uint32_t typical_iteration = 0;
  std::vector<uint32_t> window;  ///< iterations of its job that count
};

/// `draws`: replays with noise drawn for every rank; 0: none. Errors: those of the replay.
Result<PredictionReport> predict_trace(const graph::Trace& trace, uint32_t draws);

std::string render_text(const PredictionReport& report);
std::string render_json(const PredictionReport& report);

}  // namespace prism::cli
