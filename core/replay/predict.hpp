// SPDX-License-Identifier: Apache-2.0
/// From recorded ranks to the iteration time of the whole job.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/statistics.hpp"
#include "core/base/status.hpp"
#include "core/graph/trace.hpp"

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

/// Replays every sample of every kind with a virtual clock. An iteration of a job of one iteration
/// takes from its first start to its last end; of a job of several those of IterationKind::counted
/// count. The spread is that between iterations and repeats; where ranks share times, what is
/// random and independent between them is not in it. `classes` are those of the first kind. A bare
/// kind is replayed once, with the times of its programs.
/// Errors: those of the replay (ranks that wait for each other in a circle).
Result<Prediction> predict(const graph::Trace& trace);

}  // namespace prism::replay
