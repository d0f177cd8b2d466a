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
///   send, recv   from the later of the two arrivals; an eager send (nccl, small): its span.
///                Several parts that end with their batch did not all take that long: each takes as
///                long as the other end shows, and the last one to the end of the batch
/// Members that were not observed, or in another run, may have made others wait: where the graph
/// has a time for such a transfer, at most that counts. CalibrateOptions::instant_peers: they were
/// instant and made nobody wait (architecture 7). Where members of one run are on different clocks
/// their arrivals cannot be compared. Whoever came last did not wait, so the shortest of their
/// times is taken for the transfer: of a collective the least over clocks of (first end - last
/// arrival), of a message the shorter of its two spans.
///
/// Clocks are never exact. A duration or gap that would be negative becomes 0 and is counted.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/status.hpp"
#include "core/calibrate/observation.hpp"
#include "core/graph/trace.hpp"

namespace prism::calibrate {

struct CalibrateOptions {
  uint64_t eager_bytes = 64 * 1024;  ///< as in ReplayOptions
  /// Ranks that were not observed made nobody wait: they were instant.
  bool instant_peers = false;
  /// All iterations as one job, with the edges between them; else each by itself.
  bool whole = false;
};

struct Corrections {
  uint64_t count = 0;
  DurationNs largest = 0;  ///< by which an observed order was violated
  void add(const Corrections& more);
};

/// How well a sample could be calibrated, and what it is to be held against.
struct SampleReport {
  uint32_t iteration = 0;
  DurationNs observed = 0;  ///< from the first start to the last end; the longest of all clocks
  Corrections gaps;
  Corrections transfers;
  uint64_t estimated = 0;  ///< communications whose members are on different clocks
  uint64_t unseen = 0;     ///< transfers with ranks that were not observed
};

struct Calibrated {
  graph::Trace trace;
  /// By kind and sample, as in `trace`.
  std::vector<std::vector<SampleReport>> reports;
};

/// Sums over all samples (of `iteration` and `observed` there are none).
SampleReport total_of(const Calibrated& calibrated);

/// All ranks were observed: the graph is what they did, each rank a class of its own. Every
/// iteration is a job of its own (but see CalibrateOptions::whole), and a sample of the kind of its
/// structure. `repeats`: runs of the
/// same job, not none. Errors: ranks that are missing; those of graph::instantiate and
/// graph::check: ranks that do not fit together.
Result<Calibrated> calibrate(const std::vector<Observation>& repeats,
                             const CalibrateOptions& options);
inline Result<Calibrated> calibrate(const Observation& observation,
                                    const CalibrateOptions& options) {
  return calibrate(std::vector<Observation>{observation}, options);
}

/// Some ranks of a known graph were observed, in each repeat those of several slices or of one.
/// Where the graph has one iteration, each iteration that was observed is a sample of it; else the
/// whole is. The nodes of a graph of one iteration are numbered anew (structure_order.hpp). The
/// times of ranks that no repeat shows are missing. Errors: a rank that does not do what the graph
/// says, with both nodes.
Result<Calibrated> calibrate(const graph::Job& graph, const std::vector<Observation>& repeats,
                             const CalibrateOptions& options);

}  // namespace prism::calibrate
