// SPDX-License-Identifier: Apache-2.0
/// From recorded ranks to the iteration time of the whole job.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/statistics.hpp"
#include "core/base/status.hpp"
#include "core/graph/job.hpp"
#include "core/graph/timing.hpp"

namespace prism::replay {

/// Where the time of an iteration goes on a rank of a class: the median over its iterations.
struct ClassTime {
  Rank representative = 0;
  uint32_t members = 0;
  DurationNs compute = 0;
  DurationNs communication = 0;
  DurationNs waiting = 0;
};

struct Prediction {
  std::vector<DurationNs> iteration_times;  ///< those that count, of all repeats, in order
  Spread iteration_time;                    ///< of these: median, and where 95 % of them lie
  std::vector<ClassTime> classes;
  /// Time on the critical path of the counted iterations by kind, the largest first.
  std::vector<std::pair<graph::Kind, DurationNs>> critical_path;
  uint64_t nodes = 0;  ///< nodes x ranks of one replay
};

struct PredictInput {
  /// One job per repeat: the same structure, each with the durations of its own run.
  std::vector<graph::Job> repeats;
  /// Iterations that count: those that are left out are replayed like the others.
  std::vector<uint32_t> iterations;
};

/// Replays every repeat with a virtual clock. The spread is that between iterations and repeats;
/// ranks of a class share durations, so what is random and independent between them is not in it.
/// Errors: those of the replay (ranks that wait for each other in a circle).
Result<Prediction> predict(const PredictInput& input);

}  // namespace prism::replay
