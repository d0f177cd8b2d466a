// SPDX-License-Identifier: Apache-2.0
/// What the replay of a run says, put together for people.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/subject.hpp"
#include "core/base/status.hpp"
#include "core/replay/engine.hpp"

namespace prism::analysis {

/// Times of the counted iterations of a run, ns. Of a job of one iteration: from its beginning to
/// the end of its last node. Errors: those of the replay.
Result<std::vector<DurationNs>> iteration_times(const Run& run, const graph::Times& times);

/// A stretch of the critical path, on one rank: nodes of one kind and name that follow each other.
struct PathStretch {
  Rank rank = 0;
  int32_t stage = -1;
  std::string kind;  ///< "compute", "all_reduce", ..., "gap"
  std::string name;  ///< of the nodes; may be empty
  TimeNs start = 0;
  DurationNs duration = 0;
  uint64_t nodes = 0;
};

/// The critical path of one iteration, by what and by who it is made of; each list has the longest
/// first and adds up, with `before`, to `length`.
struct PathSummary {
  uint32_t iteration = 0;  ///< its number in the trace
  DurationNs length = 0;   ///< from the end of the iteration before to the end of this one
  DurationNs before = 0;   ///< of it, nodes of earlier iterations
  std::vector<std::pair<std::string, DurationNs>> by_kind;
  std::vector<std::pair<int32_t, DurationNs>> by_stage;  ///< -1: ranks without a stage
  std::vector<std::pair<Rank, DurationNs>> by_rank;
  std::vector<PathStretch> longest;  ///< at most kMostStretches
};
inline constexpr size_t kMostStretches = 8;

/// Of the iteration `job_iteration` of the job. Errors: those of the replay.
Result<PathSummary> path_summary(const Run& run, const graph::Times& times, uint32_t job_iteration);

}  // namespace prism::analysis
