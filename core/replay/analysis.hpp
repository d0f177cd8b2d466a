// SPDX-License-Identifier: Apache-2.0
/// What is learnt while the engine runs beside the times themselves: where the time of each rank
/// goes, how long lanes are busy, who made whom wait, the critical path. Internal to core/replay.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/replay/node_recorder.hpp"
#include "core/replay/state.hpp"

namespace prism::replay {

/// The engine tells each arrival, wait and end to one of these.
class Analysis {
 public:
  Analysis(State& state, const ReplayOptions& options, ReplayResult& result, uint32_t iterations,
           uint32_t last_iteration);

  /// The node arrives `gap` after all that it depends on had ended, at `ready`; `latest` is the one
  /// on another lane that ended last, or nullptr when its own lane's did.
  void arrived(Rank rank, const CompiledLane& lane, const Op& op, const LaneState& at, TimeNs ready,
               DurationNs gap, const Dependency* latest) {
    if (lane.main) {
      split_arrival(rank, op, at, ready, gap, latest);
    }
  }
  /// `waiting` waited at `op` for `late`.
  void waited(Rank waiting, const Op& op, Rank late, DurationNs wait) {
    if (wait > 0 && op.in_window) {
      blame(waiting, late, wait);
    }
  }
  /// The node at the cursor of `lane` ends.
  void ended(Rank rank, const CompiledLane& lane, const Op& op, const LaneState& at, TimeNs end);

  /// Fills the result but for the iterations, which must be there.
  void finish();

 private:
  TimeSplit& split(Rank rank, uint32_t iteration) {
    return split_[uint64_t{rank} * iterations_ + iteration];
  }
  void split_arrival(Rank rank, const Op& op, const LaneState& at, TimeNs ready, DurationNs gap,
                     const Dependency* latest);
  void blame(Rank waiting, Rank late, DurationNs wait);
  ClassTimes times_of(const graph::Class& c) const;
  uint64_t lane_number(const LaneState& lane) const {
    return static_cast<uint64_t>(&lane - state_.lanes.data());
  }

  State& state_;
  const ReplayOptions& options_;
  ReplayResult& result_;
  const uint32_t iterations_;
  const uint32_t last_iteration_;
  NodeRecorder recorder_;
  std::vector<DurationNs> busy_;           ///< by lane of a rank
  std::array<DurationNs, 256> waiting_{};  ///< by kind
  std::vector<TimeSplit> split_;           ///< by rank and iteration
  std::unordered_map<uint64_t, std::pair<DurationNs, uint64_t>> blamed_;
  std::pair<DurationNs, uint64_t>* last_blamed_ = nullptr;
  uint64_t last_blamed_key_ = 0;
};

/// Nothing but the times.
class NoAnalysis {
 public:
  NoAnalysis(State& /*state*/, const ReplayOptions& /*options*/, ReplayResult& /*result*/,
             uint32_t /*iterations*/, uint32_t /*last_iteration*/) {}
  void arrived(Rank /*rank*/, const CompiledLane& /*lane*/, const Op& /*op*/,
               const LaneState& /*at*/, TimeNs /*ready*/, DurationNs /*gap*/,
               const Dependency* /*latest*/) {}
  void waited(Rank /*waiting*/, const Op& /*op*/, Rank /*late*/, DurationNs /*wait*/) {}
  void ended(Rank /*rank*/, const CompiledLane& /*lane*/, const Op& /*op*/, const LaneState& /*at*/,
             TimeNs /*end*/) {}
  void finish() {}
};

}  // namespace prism::replay
