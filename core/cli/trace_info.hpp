// SPDX-License-Identifier: Apache-2.0
/// What a trace shows, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "core/calibrate/calibrate.hpp"
#include "core/calibrate/replica_check.hpp"
#include "core/replay/engine.hpp"

namespace prism::cli {

/// A communication of a kind, over all ranks of an iteration.
struct CommunicationUse {
  graph::Kind kind = graph::Kind::Compute;
  std::string communicator;  ///< description, or name where that is empty
  uint64_t count = 0;        ///< nodes
  uint64_t bytes = 0;        ///< what the members give and get, sum
  DurationNs transfer = 0;   ///< sum
  DurationNs waiting = 0;    ///< from arrival to start, sum
};

/// A sample of a trace, replayed with its own times.
struct ReplayedSample {
  uint32_t iteration = 0;
  uint32_t repeat = 0;
  uint32_t kind = 0;
  DurationNs replayed = 0;
  DurationNs waiting = 0;                       ///< sum over all ranks
  std::vector<CommunicationUse> communication;  ///< the longest first
};

struct TraceInfo {
  std::string origin;
  calibrate::Calibrated calibrated;
  std::vector<ReplayedSample> samples;  ///< kind after kind
  calibrate::ReplicaCheck replicas;
};

/// Replays every sample. Errors: those of the replay.
Result<TraceInfo> examine(calibrate::Calibrated calibrated);

std::string render_text(const TraceInfo& info);
std::string render_json(const TraceInfo& info);

}  // namespace prism::cli
