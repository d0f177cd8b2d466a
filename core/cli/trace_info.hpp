// SPDX-License-Identifier: Apache-2.0
/// What a trace shows, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "core/calibrate/calibrate.hpp"
#include "core/calibrate/observation.hpp"
#include "core/replay/engine.hpp"

namespace prism::cli {

/// One iteration of a trace, calibrated and replayed by itself.
struct ReplayedIteration {
  uint32_t number = 0;
  DurationNs observed = 0;  ///< from the first start to the last end; of the longest clock
  calibrate::Calibrated calibrated;
  replay::ReplayResult replayed;
};

/// Errors: those of calibrate and replay.
Result<ReplayedIteration> replay_iteration(const calibrate::Observation& observation,
                                           uint32_t iteration,
                                           const replay::ReplayOptions& options);

struct TraceInfo {
  std::string format;
  const calibrate::Observation* observation = nullptr;
  std::vector<ReplayedIteration> iterations;
};

std::string render_text(const TraceInfo& info);
std::string render_json(const TraceInfo& info);

}  // namespace prism::cli
