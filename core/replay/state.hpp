// SPDX-License-Identifier: Apache-2.0
/// What engine, analysis, critical path and the report about stalled jobs share. Internal to
/// core/replay.
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
#include "core/replay/recent_ends.hpp"

namespace prism::replay {

/// A lane of a rank.
struct LaneState {
  TimeNs end = 0;      ///< of the last node that is done
  TimeNs arrival = 0;  ///< of the node at `cursor`, when it waits for other ranks
  TimeNs parts_end = 0;
  uint32_t cursor = 0;   ///< nodes that are done
  uint32_t pending = 0;  ///< what the node at `cursor` waits for from other ranks; 0: not arrived
  RecentEnds ends;       ///< of its nodes that other lanes wait for: by Op::source
};

struct RankLane {
  Rank rank;
  uint32_t lane;
};

/// Of durations or gaps in 4 bytes each.
class ColumnView {
 public:
  ColumnView() = default;
  explicit ColumnView(const graph::Column& column)
      : values_(column.values().data()), column_(&column) {}
  DurationNs operator[](uint32_t index) const {
    // The ranks' columns are read in turns, each a little way: the line after this one is asked
    // for now, or every 16th node would wait for memory.
    __builtin_prefetch(values_ + index + kAhead);
    const uint32_t value = values_[index];
    return value != graph::Column::kLong ? value : (*column_)[index];
  }

 private:
  static constexpr uint32_t kAhead = 32;
  const uint32_t* values_ = nullptr;
  const graph::Column* column_ = nullptr;
};

/// What the engine needs of a rank at each of its nodes.
struct RankState {
  const Compiled* compiled = nullptr;
  LaneState* lanes = nullptr;
  const uint32_t* communicators = nullptr;  ///< by slot
  ColumnView durations;
  ColumnView gaps;
  ColumnView parts;
  uint64_t first_kept = 0;
};

using graph::PartOf;

struct State {
  State(const graph::Job& of_job, const graph::Messages& of_messages)
      : job(of_job), messages(of_messages) {}

  const graph::Job& job;
  const graph::Messages& messages;
  std::vector<Compiled> classes;
  std::vector<graph::RankTimes> own_times;  ///< by class: those of its program
  std::vector<RankState> ranks;
  std::vector<LaneState> lanes;                     ///< of all ranks
  std::vector<TimeNs> kept_ends;                    ///< see Op::kept
  std::unordered_map<uint64_t, PartOf> any_source;  ///< part -> its partner, both ways

  const Compiled& compiled(Rank rank) const { return *ranks[rank].compiled; }
  LaneState& lane(Rank rank, uint32_t lane) { return ranks[rank].lanes[lane]; }
  const LaneState& lane(Rank rank, uint32_t lane) const { return ranks[rank].lanes[lane]; }
  /// Own time of a node: of a batch that of its longest part.
  DurationNs duration(Rank rank, const Op& op) const {
    const RankState& of = ranks[rank];
    if (op.part_count == 0) {
      return of.durations[op.node];
    }
    DurationNs longest = 0;
    for (uint32_t p = op.first_part; p < op.first_part + op.part_count; ++p) {
      longest = std::max(longest, of.parts[p]);
    }
    return longest;
  }
  static uint64_t key(Rank rank, uint32_t part) { return uint64_t{rank} << 32U | part; }
  uint32_t node_of_part(Rank rank, uint32_t part) const {
    return messages.classes[job.class_of[rank]].node_of_part[part];
  }
};

/// Backend and size decide: NCCL buffers small messages.
inline bool is_eager(const graph::Program& program, const graph::Part& part, uint64_t limit) {
  return part.bytes > 0 && part.bytes <= limit &&
         program.communicators[part.communicator].backend == "nccl";
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
