// SPDX-License-Identifier: Apache-2.0
/// From when things ran to how long they take: a job that the replay engine can run (paper 5.3,
/// architecture 7).
///
/// What remains of an observed span is the rank's own time:
///   compute      its span
///   gap          from the end of the lane predecessor and of all dependencies to the arrival; of
///                the first node of a rank from the first arrival of any rank on its clock
///   collective   from the last arrival to the end
///   broadcast    root: its span; others: from the later of own arrival and the root's
///   reduce, gather, scatter   the reverse
///   send, recv   from the later of the two arrivals; an eager send (nccl, small): its span
/// Where members are on different clocks their arrivals cannot be compared. Whoever came last did
/// not wait, so the shortest of their times is taken for the transfer: of a collective the least
/// over clocks of (first end - last arrival), of a message the shorter of its two spans.
///
/// Clocks are never exact. A duration or gap that would be negative becomes 0 and is counted.
#pragma once

#include <cstdint>

#include "core/base/status.hpp"
#include "core/calibrate/observation.hpp"
#include "core/graph/job.hpp"

namespace prism::calibrate {

struct CalibrateOptions {
  uint64_t eager_bytes = 64 * 1024;  ///< as in ReplayOptions
};

struct Corrections {
  uint64_t count = 0;
  DurationNs largest = 0;  ///< by which an observed order was violated
};

struct Calibrated {
  graph::Job job;  ///< each rank a class of its own
  Corrections gaps;
  Corrections transfers;
  uint64_t estimated = 0;  ///< communications whose members are on different clocks
};

/// Errors: those of graph::instantiate and graph::check: ranks that do not fit together.
Result<Calibrated> calibrate(const Observation& observation, const CalibrateOptions& options);

}  // namespace prism::calibrate
