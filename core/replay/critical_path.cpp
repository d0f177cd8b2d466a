// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/replay/state.hpp"

namespace prism::replay {
namespace {

using graph::Kind;
using graph::Part;

struct NodeOf {
  Rank rank = 0;
  uint32_t node = kNone;
};

/// Walks back from the end of the window. Ends are known for the nodes of the window only; where a
/// node was held up by one of before the window, the walk ends.
class Walk {
 public:
  Walk(const State& state, const ReplayOptions& options, TimeNs window_start, TimeNs window_end)
      : state_(state), options_(options), window_start_(window_start), window_end_(window_end) {}

  CriticalPath run(uint32_t last_iteration) {
    NodeOf at = last_node(last_iteration);
    TimeNs end = window_end_;
    while (at.node != kNone && end > window_start_) {
      const Step step = explain(at, end);
      const TimeNs shown = std::max(step.start, window_start_);
      add(at, step.kind, shown, end, false);
      const TimeNs ready = std::max(step.start - step.arrived.gap, window_start_);
      add(step.arrived.node, Kind::Compute, ready, shown, true);
      end = std::min(ready, shown);
      at = step.arrived.cause;
    }
    path_.before = std::max<DurationNs>(0, end - window_start_);
    std::reverse(path_.segments.begin(), path_.segments.end());
    return std::move(path_);
  }

 private:
  /// A node's arrival: after its gap, after `cause` had ended.
  struct Arrival {
    NodeOf node;  ///< kNone: it did not arrive at that time
    DurationNs gap = 0;
    NodeOf cause;  ///< kNone: not in the window
  };
  /// When a node began to run, and the arrival that allowed it.
  struct Step {
    Kind kind = Kind::Compute;
    TimeNs start = 0;
    Arrival arrived;
  };

  void add(NodeOf node, Kind kind, TimeNs start, TimeNs end, bool gap) {
    if (end > start) {
      path_.segments.push_back({node.rank, node.node, kind, start, end, gap});
      path_.by_kind[kind] += end - start;
    }
  }

  NodeOf last_node(uint32_t last_iteration) const {
    for (Rank rank = 0; rank < state_.job.world_size; ++rank) {
      const Compiled& compiled = state_.compiled(rank);
      for (const CompiledLane& lane : compiled.lanes) {
        if (!lane.cpu) {
          continue;
        }
        uint32_t n = lane.op_count;
        while (n > 0 && compiled.ops[lane.first_op + n - 1].iteration > last_iteration) {
          --n;
        }
        if (n > 0) {
          const uint32_t node = compiled.ops[lane.first_op + n - 1].node;
          if (end_of(rank, node) == window_end_) {
            return {rank, node};
          }
        }
      }
    }
    return {};
  }

  /// -1 outside the window.
  TimeNs end_of(Rank rank, uint32_t node) const {
    const uint32_t kept = state_.compiled(rank).op_of_node(node).kept;
    return kept == kNone ? -1 : state_.kept_ends[state_.ranks[rank].first_kept + kept];
  }

  /// How `of` arrived at `time`, if it did and what it waited for is in the window.
  Arrival arrival_at(NodeOf of, TimeNs time) const {
    const Compiled& compiled = state_.compiled(of.rank);
    const Place place = compiled.place_of_node[of.node];
    TimeNs latest = -1;
    NodeOf cause{of.rank, kNone};
    bool first = true;
    const auto consider = [&](Place before) {
      first = false;
      const uint32_t node = compiled.op(before).node;
      const TimeNs end = end_of(of.rank, node);
      if (end > latest) {
        latest = end;
        cause.node = node;
      }
    };
    if (place.index > 0) {
      consider({place.lane, place.index - 1});
    }
    const Op& op = compiled.op(place);
    for (uint32_t d = 0; d < op.dependency_count; ++d) {
      consider(compiled.dependencies[op.first_dependency + d]);
    }
    if (first) {
      latest = 0;
    }
    const DurationNs gap = state_.ranks[of.rank].gaps[op.node];
    return latest >= 0 && latest + gap == time ? Arrival{of, gap, cause} : Arrival{};
  }

  Step explain(NodeOf at, TimeNs end) const {
    const Op& op = state_.compiled(at.rank).op_of_node(at.node);
    Step step{op.kind, end - state_.duration(at.rank, op), {}};
    if (graph::has_parts(op.kind)) {
      explain_parts(at, op, end, step);
      return step;
    }
    step.arrived = arrival_at(at, step.start);
    if (step.arrived.node.node == kNone && op.slot != kNone) {
      step.arrived = last_arriver(at, op, step.start);
    }
    return step;
  }

  Arrival last_arriver(NodeOf at, const Op& op, TimeNs start) const {
    const uint32_t communicator = state_.job.communicator(at.rank, op.slot);
    const std::vector<Rank>& members = state_.job.communicators[communicator].ranks;
    const auto arrival_of = [&](Rank member) {
      const uint32_t slot = slot_of(state_.job, member, communicator);
      return arrival_at({member, state_.compiled(member).collectives[slot][op.sequence]}, start);
    };
    if (graph::has_root(op.kind)) {
      const Rank root = members[static_cast<size_t>(op.root)];
      if (root != at.rank) {
        return arrival_of(root);
      }
    }
    for (const Rank member : members) {
      const Arrival arrival = arrival_of(member);
      if (arrival.node.node != kNone) {
        return arrival;
      }
    }
    return {};
  }

  /// The part that ended last, and what it waited for.
  void explain_parts(NodeOf at, const Op& op, TimeNs end, Step& step) const {
    const graph::Program& program = state_.job.program(at.rank);
    for (uint32_t p = op.first_part; p < op.first_part + op.part_count; ++p) {
      const Part& part = program.parts[p];
      const TimeNs start = end - state_.ranks[at.rank].parts[p];
      Arrival arrived = arrival_at(at, start);
      const bool alone = part.kind == Kind::Send && is_eager(program, part, options_.eager_bytes);
      if (arrived.node.node == kNone && !alone) {
        const PartOf other = partner(state_, at.rank, p);
        arrived = arrival_at({other.rank, state_.node_of_part(other.rank, other.part)}, start);
      }
      if (arrived.node.node != kNone) {
        step = {part.kind, start, arrived};
        return;
      }
    }
  }

  const State& state_;
  const ReplayOptions& options_;
  TimeNs window_start_;
  TimeNs window_end_;
  CriticalPath path_;
};

}  // namespace

PartOf partner(const State& state, Rank rank, uint32_t part) {
  const auto matched = state.any_source.find(State::key(rank, part));
  if (matched != state.any_source.end()) {
    return matched->second;
  }
  return graph::partner(state.job, state.messages, rank, part);
}

uint32_t slot_of(const graph::Job& job, Rank rank, uint32_t communicator) {
  const auto slots = static_cast<uint32_t>(job.program(rank).communicators.size());
  for (uint32_t slot = 0; slot < slots; ++slot) {
    if (job.communicator(rank, slot) == communicator) {
      return slot;
    }
  }
  return kNone;
}

CriticalPath find_critical_path(const State& state, const ReplayOptions& options,
                                const ReplayResult& result, uint32_t last_iteration) {
  return Walk(state, options, result.window_start, result.window_end).run(last_iteration);
}

}  // namespace prism::replay
