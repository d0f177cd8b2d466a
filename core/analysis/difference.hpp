// SPDX-License-Identifier: Apache-2.0
/// How two traces of a job differ, and how far the replicas of one are apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/subject.hpp"
#include "core/base/status.hpp"

namespace prism::analysis {

/// The first difference in structure, rank after rank, with both places; empty: there is none.
/// Looked at are the nodes of each lane, their kinds, names, labels, sizes, element types, peers
/// and the ranks of their communicators, and on what they depend. Names of lanes and communicators
/// may differ. `a_name`, `b_name`: what the message calls them.
std::string first_difference(const graph::Job& a, const graph::Job& b, const std::string& a_name,
                             const std::string& b_name);

/// Of |deviation|, a share.
struct Figures {
  double median = 0;
  double high = 0;  ///< 95 % are at most this
};

/// Calls of one kind and name on lanes of one kind.
struct CallDeviation {
  std::string kind;  ///< "compute", "all_reduce", ...
  std::string lane;  ///< "cpu", "stream", "comm"
  std::string name;  ///< of the node; empty: all of the kind
  uint64_t calls = 0;
  DurationNs total = 0;  ///< own time of all of them, in the first trace
  double change = 0;     ///< of the total, to the second trace
  Figures duration;      ///< of the own time of a call, relative to the first trace; without those
                         ///< that take no time there
  Figures start;         ///< of the start in the iteration, as a share of the iteration
  /// The same between like ranks of the first trace; none: there are no like ranks.
  std::optional<Figures> natural_duration;
  std::optional<Figures> natural_start;
};

struct Deviations {
  std::vector<CallDeviation> kinds;  ///< all calls of a kind; the longest first, as below
  std::vector<CallDeviation> calls;  ///< by kind and name
  uint64_t nodes = 0;     ///< that correspond (of `between_replicas`: of ranks with like ones)
  uint64_t left_out = 0;  ///< nodes of the first trace that have no counterpart
};

/// The i-th run of `a` with the i-th of `b`, as far as both go; ranks with ranks of their number,
/// along a lane the n-th call with the n-th (counterparts.hpp). Errors: those of the replay.
Result<Deviations> between_traces(const std::vector<Run>& a, const std::vector<Run>& b);

/// Of each rank from the median of the ranks that are like it, itself included. `change` is 0.
Result<Deviations> between_replicas(const std::vector<Run>& runs);

}  // namespace prism::analysis
