// SPDX-License-Identifier: Apache-2.0
/// Replays a job on a virtual clock: when each node of each rank starts and ends.
///
///   ReplayOptions options;
///   options.first_iteration = 3;              // warm-up is not looked at
///   PRISM_TRY_ASSIGN(ReplayResult result, replay(job, options));
///   result.iteration_time[3];                 // ns
///
/// The rules (architecture 5). All times are whole nanoseconds; the result does not depend on the
/// order in which the engine works. A node arrives at
///     ready = max(end of its lane predecessor, ends of its dependencies, 0) + its gap.
///   compute, transfer      start = ready
///   all_reduce, all_gather, reduce_scatter, all_to_all, barrier
///                          start = the last arrival of the group
///   broadcast              root: start = its arrival; others: max(own arrival, root's arrival)
///   scatter, reduce, gather
///                          root: the last arrival of the group; others: max(own, root's arrival)
///   send                   max(own arrival, its recv's arrival); on backend "nccl" with 1 to
///                          `eager_bytes` bytes: own arrival (0: its size is not known)
///   recv                   max(own arrival, its send's arrival)
///   and end = start + duration.
///   batch                  its parts arrive at ready, each follows its rule; end = the last end
/// A recv from any source takes the earliest arrived send to its (communicator, rank, tag) that has
/// no recv yet, ties by lowest source, then order of sending. Among several such receives the
/// decision falls in order of max(arrival of recv, arrival of send), ties by lowest destination,
/// communicator index, tag; within one mailbox the receive that arrived first, ties by order in the
/// program.
///
/// tests/reference/reference.py says the same in a slow and obvious way; both agree in every ns.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/base/status.hpp"
#include "core/graph/job.hpp"
#include "core/graph/times.hpp"

namespace prism::replay {

struct ReplayOptions {
  /// NCCL: a send of 1 to so many bytes does not wait for its recv.
  uint64_t eager_bytes = 64 * 1024;
  /// false: iteration times and the end only, twice as fast; all that the other options ask for
  /// stays empty.
  bool analyse = true;
  /// Iterations that critical path, waits and lane use look at, both inclusive; cut to what is
  /// there.
  uint32_t first_iteration = 0;
  uint32_t last_iteration = graph::kNone;
  /// Costs 8 bytes per rank and node of these iterations.
  bool critical_path = true;
  uint32_t top_waits = 16;
  /// Ranks whose node times are kept (16 bytes per node).
  std::vector<Rank> record;
};

/// Where the time of a rank's first CPU lane goes; adds up to the time of the iteration at that
/// rank. A gap before a node belongs to the dependency that ended last: the part of the gap in
/// which that node ran (its own duration) is compute or communication as that node is, the rest is
/// waiting. A communication on the CPU lane itself is communication for its own duration and
/// waiting from its arrival to its start. The gaps that the nodes themselves have (Node::gap) are
/// compute: time of the rank's own. A rank without CPU lanes is seen by the lane
/// with the most compute nodes.
struct TimeSplit {
  DurationNs compute = 0;
  DurationNs communication = 0;
  DurationNs waiting = 0;
  bool operator==(const TimeSplit&) const = default;
};

/// Own time of the nodes of a lane in the window; the rest of the window it is idle.
struct LaneUse {
  DurationNs representative = 0;
  DurationNs least = 0;
  DurationNs most = 0;
};

struct ClassTimes {
  std::vector<TimeSplit> representative;  ///< by iteration
  std::vector<TimeSplit> least;           ///< by iteration: of each field over the members
  std::vector<TimeSplit> most;
  std::vector<LaneUse> lanes;  ///< by lane of the program
};

/// A stretch of the critical path. They follow each other without a gap.
struct PathSegment {
  Rank rank = 0;
  uint32_t node = 0;
  graph::Kind kind = graph::Kind::Compute;  ///< of the part, for a batch
  TimeNs start = 0;
  TimeNs end = 0;
  bool gap = false;  ///< the gap before the node's arrival; its kind is then Compute
};

/// What the end of the window hangs on: the chain of nodes back from its last end, over whoever
/// arrived last. Nodes that take no time are left out. The gap of a node is a stretch of compute.
struct CriticalPath {
  std::vector<PathSegment> segments;          ///< in order of time
  std::map<graph::Kind, DurationNs> by_kind;  ///< adds up with `before` to the window
  DurationNs before = 0;  ///< of the window's length: nodes of earlier iterations
};

/// Who made whom wait, in the window.
struct Wait {
  Rank late = 0;               ///< the rank that arrived last
  uint32_t waiting_class = 0;  ///< the ranks that waited are of this class
  DurationNs total = 0;        ///< sum over them
  uint64_t count = 0;
};

struct NodeTimes {
  TimeNs start = 0;  ///< of a batch: its arrival
  TimeNs end = 0;
  TimeNs arrival = 0;
};
struct RecordedTimes {
  Rank rank = 0;
  std::vector<NodeTimes> nodes;  ///< by node
};

struct ReplayResult {
  /// By iteration: the last end of any CPU-lane node of that iteration or an earlier one; ranks
  /// without CPU lanes take part with all lanes.
  std::vector<TimeNs> iteration_end;
  std::vector<DurationNs> iteration_time;  ///< differences of the above; the first from 0
  TimeNs end = 0;                          ///< of the last node
  uint64_t nodes = 0;                      ///< that were replayed
  std::vector<ClassTimes> classes;
  TimeNs window_start = 0;  ///< end of the iteration before `first_iteration`
  TimeNs window_end = 0;    ///< end of `last_iteration`
  CriticalPath critical_path;
  std::vector<Wait> waits;  ///< longest first
  /// In the window, over all ranks: from arrivals to starts (of a batch: to its end but for the
  /// longest part).
  std::map<graph::Kind, DurationNs> waiting_by_kind;
  std::vector<RecordedTimes> recorded;
};

/// Replays a job that `graph::check` has accepted; of others, errors are found but less well
/// described. Errors: ranks that wait for each other in a circle (the circle is printed), for a
/// communication that never comes, or receive from any source what does not fit.
/// Memory: O(ranks x lanes + what is pending) and what the options ask for. One thread.
/// Without `times` the programs' own count.
Result<ReplayResult> replay(const graph::Job& job, const ReplayOptions& options);
Result<ReplayResult> replay(const graph::Job& job, const graph::Times& times,
                            const ReplayOptions& options);

}  // namespace prism::replay
