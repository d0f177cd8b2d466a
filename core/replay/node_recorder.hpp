// SPDX-License-Identifier: Apache-2.0
/// Keeps the times of the nodes of some ranks. Internal to core/replay.
#pragma once

#include <cstdint>
#include <vector>

#include "core/replay/state.hpp"

namespace prism::replay {

/// An observer of the engine, and a part of the one that analyses.
class NodeRecorder {
 public:
  NodeRecorder(State& state, const ReplayOptions& options, ReplayResult& result,
               uint32_t /*iterations*/, uint32_t /*last_iteration*/)
      : state_(state), result_(result), recorded_as_(state.job.world_size, kNone) {
    result.recorded.reserve(options.record.size());
    for (const Rank rank : options.record) {
      if (rank < state.job.world_size && recorded_as_[rank] == kNone) {
        recorded_as_[rank] = static_cast<uint32_t>(result.recorded.size());
        result.recorded.push_back({rank, {}});
        result.recorded.back().nodes.resize(state.job.program(rank).nodes.size());
      }
    }
  }

  void arrived(Rank /*rank*/, const CompiledLane& /*lane*/, const Op& /*op*/,
               const LaneState& /*at*/, TimeNs /*ready*/, DurationNs /*gap*/,
               const Dependency* /*latest*/) {}
  void waited(Rank /*waiting*/, const Op& /*op*/, Rank /*late*/, DurationNs /*wait*/) {}
  void ended(Rank rank, const CompiledLane& /*lane*/, const Op& op, const LaneState& at,
             TimeNs end) {
    if (recorded_as_[rank] != kNone) {
      result_.recorded[recorded_as_[rank]].nodes[op.node] = {
          op.kind == graph::Kind::Batch ? at.arrival : end - state_.duration(rank, op), end,
          at.arrival};
    }
  }
  void finish() {}

 private:
  State& state_;
  ReplayResult& result_;
  std::vector<uint32_t> recorded_as_;  ///< by rank: index into result_.recorded
};

}  // namespace prism::replay
