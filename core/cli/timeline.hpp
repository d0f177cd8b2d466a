// SPDX-License-Identifier: Apache-2.0
/// timeline.json: one replayed iteration in the Chrome trace format, which Perfetto and
/// chrome://tracing open. A process per rank, a thread per lane, flow arrows for dependencies.
///
/// On a communicator's lane a slice begins when the rank arrives and ends when the data may move,
/// so its length is what the rank waited for others (plus the transfer, on devices whose lanes
/// carry it). On the CPU device the transfer itself is the slice "... transfer" of the CPU lane.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/status.hpp"
#include "core/graph/job.hpp"

namespace prism::cli {

struct TimelineOptions {
  uint32_t iteration = 0;  ///< of the job's programs
  uint32_t max_ranks = 16;
  uint64_t max_bytes = 50'000'000;
};

struct TimelineSummary {
  uint32_t ranks = 0;  ///< that the file shows
  uint64_t bytes = 0;
};

/// Shows one rank of each class, then the ranks on the critical path, then the first ones, up to
/// `max_ranks`, fewer where the file would grow beyond `max_bytes`. `job` has been replayed well.
Result<TimelineSummary> write_timeline(const std::string& path, const graph::Job& job,
                                       const TimelineOptions& options);

}  // namespace prism::cli
