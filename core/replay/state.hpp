// SPDX-License-Identifier: Apache-2.0
/// What engine, critical path and the report about stalled jobs share. Internal to core/replay.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/graph/job.hpp"
#include "core/graph/messages.hpp"
#include "core/graph/times.hpp"
#include "core/replay/compiled.hpp"
#include "core/replay/engine.hpp"

namespace prism::replay {

/// A lane of a rank.
struct LaneState {
  TimeNs end = 0;      ///< of the last node that is done
  TimeNs arrival = 0;  ///< of the node at `cursor`, when it waits for other ranks
  TimeNs parts_end = 0;
  uint32_t cursor = 0;   ///< nodes that are done
  uint32_t pending = 0;  ///< what the node at `cursor` waits for from other ranks; 0: not arrived
};

using graph::PartOf;

struct State {
  const graph::Job& job;
  const graph::Times& times;
  const graph::Messages& messages;
  std::vector<Compiled> classes;
  std::vector<uint64_t> first_lane;  ///< by rank
  std::vector<LaneState> lanes;
  std::vector<uint64_t> first_kept;                 ///< by rank
  std::vector<TimeNs> kept_ends;                    ///< see Op::kept
  std::unordered_map<uint64_t, PartOf> any_source;  ///< part -> its partner, both ways

  const Compiled& compiled(Rank rank) const { return classes[job.class_of[rank]]; }
  LaneState& lane(Rank rank, uint32_t lane) { return lanes[first_lane[rank] + lane]; }
  const LaneState& lane(Rank rank, uint32_t lane) const { return lanes[first_lane[rank] + lane]; }
  /// Own time of a node: of a batch that of its longest part.
  DurationNs duration(Rank rank, const Op& op) const {
    const graph::RankTimes* own = times.of(rank);
    return own == nullptr ? op.duration : own_duration(*own, op);
  }
  DurationNs gap(Rank rank, const Op& op) const {
    const graph::RankTimes* own = times.of(rank);
    return own == nullptr || own->gaps.empty() ? op.gap : own->gaps[op.node];
  }
  DurationNs part_duration(Rank rank, uint32_t part) const {
    return graph::TimesOfRank(job, times, rank).part(part);
  }
  static uint64_t key(Rank rank, uint32_t part) { return uint64_t{rank} << 32U | part; }
  uint32_t node_of_part(Rank rank, uint32_t part) const {
    return messages.classes[job.class_of[rank]].node_of_part[part];
  }

 private:
  static DurationNs own_duration(const graph::RankTimes& own, const Op& op) {
    if (op.part_count == 0) {
      return own.durations.empty() ? op.duration : own.durations[op.node];
    }
    if (own.parts.empty()) {
      return op.duration;
    }
    DurationNs longest = 0;
    for (uint32_t p = op.first_part; p < op.first_part + op.part_count; ++p) {
      longest = std::max(longest, own.parts[p]);
    }
    return longest;
  }
};

/// Backend and size decide: NCCL buffers small messages.
inline bool is_eager(const graph::Program& program, const graph::Part& part, uint64_t limit) {
  return part.bytes <= limit && program.communicators[part.communicator].backend == "nccl";
}

/// The partner of a send or recv: rank and part; {.., kNone} if it has none.
PartOf partner(const State& state, Rank rank, uint32_t part);
/// The slot under which `rank` knows a communicator; kNone if it never uses it.
uint32_t slot_of(const graph::Job& job, Rank rank, uint32_t communicator);

CriticalPath find_critical_path(const State& state, const ReplayOptions& options,
                                const ReplayResult& result, uint32_t last_iteration);

/// Why nothing goes on: the circle of ranks that wait for each other, or the communication that
/// never comes.
Status explain_stall(const State& state);

}  // namespace prism::replay
