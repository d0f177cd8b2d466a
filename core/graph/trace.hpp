// SPDX-License-Identifier: Apache-2.0
/// A PrismTrace in memory: what a job does, and how long it took in each of the runs that were
/// seen. Its file is written and read by trace_file.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/job.hpp"
#include "core/graph/times.hpp"

namespace prism::graph {

/// One run of a graph: an iteration that was observed, or a repeat of a recording.
struct Sample {
  uint32_t iteration = 0;  ///< its number where it was observed; of a repeat: 0
  uint32_t repeat = 0;
  Times times;
};

/// Iterations of one structure. The job's own times are the medians over the samples of a rank of
/// each class, those of the first sample of a recorded job, or those of a model.
struct IterationKind {
  Job job;
  std::vector<Sample> samples;    ///< none: the graph is bare
  std::vector<uint32_t> counted;  ///< iterations of `job` that count, where it has several; all
                                  ///< when empty
  std::string difference;         ///< the first from the first kind; of that one itself ""
};

/// `counted`, or all iterations of the job.
std::vector<uint32_t> counted_iterations(const IterationKind& kind);

struct Trace {
  std::string origin;                ///< what made it, in words: "imported by kineto", ...
  std::vector<std::string> notes;    ///< what the user should know
  std::vector<IterationKind> kinds;  ///< the most frequent first
  /// By rank: whose times it has. Itself: they were measured; another: shared from that replica;
  /// kNone: missing. Empty: the graph is bare.
  std::vector<Rank> times_from;
};

}  // namespace prism::graph
