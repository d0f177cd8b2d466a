// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/calibrate.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/graph/check.hpp"
#include "core/graph/messages.hpp"

namespace prism::calibrate {
namespace {

using graph::Kind;
using graph::Node;
using graph::Part;
using graph::Program;

constexpr TimeNs kNever = std::numeric_limits<TimeNs>::max();

class Calibration {
 public:
  Calibration(const Observation& observation, const CalibrateOptions& options,
              const graph::Messages& messages, Calibrated& result)
      : observation_(observation),
        options_(options),
        messages_(messages),
        result_(result),
        job_(result.job) {}

  void run() {
    find_origins();
    for (Rank rank = 0; rank < job_.world_size; ++rank) {
      set_gaps(rank);
    }
    find_collectives();
    for (Rank rank = 0; rank < job_.world_size; ++rank) {
      set_durations(rank);
    }
  }

 private:
  struct Member {
    Rank rank;
    uint32_t node;
  };
  /// A collective: on each clock its last arrival and its first end.
  struct Meeting {
    struct Clock {
      TimeNs last_arrival = std::numeric_limits<TimeNs>::min();
      TimeNs first_end = kNever;
    };
    std::map<uint32_t, Clock> clocks;
    std::optional<Member> root;
  };

  const ObservedRank& observed(Rank rank) const { return observation_.ranks[rank]; }
  Program& program(Rank rank) { return job_.classes[job_.class_of[rank]].program; }
  const Span& span(Rank rank, uint32_t node) const { return observed(rank).nodes[node]; }
  bool same_clock(Rank a, Rank b) const { return observed(a).clock == observed(b).clock; }

  static DurationNs at_least_0(DurationNs value, Corrections& corrections) {
    if (value < 0) {
      ++corrections.count;
      corrections.largest = std::max(corrections.largest, -value);
      return 0;
    }
    return value;
  }

  // ---- Gaps ----

  void find_origins() {
    for (const ObservedRank& rank : observation_.ranks) {
      for (const Span& node : rank.nodes) {
        TimeNs& origin = origins_.try_emplace(rank.clock, kNever).first->second;
        origin = std::min(origin, node.start);
      }
    }
  }

  void set_gaps(Rank rank) {
    Program& own = program(rank);
    std::vector<TimeNs> lane_end(own.lanes.size(), kNever);
    for (uint32_t id = 0; id < own.nodes.size(); ++id) {
      Node& node = own.nodes[id];
      TimeNs ready = lane_end[node.lane];
      for (uint32_t d = 0; d < node.dependency_count; ++d) {
        const TimeNs end = span(rank, own.dependencies[node.first_dependency + d]).end;
        ready = ready == kNever ? end : std::max(ready, end);
      }
      if (ready == kNever) {
        ready = origins_.at(observed(rank).clock);
      }
      node.gap = at_least_0(span(rank, id).start - ready, result_.gaps);
      lane_end[node.lane] = span(rank, id).end;
    }
  }

  // ---- Transfers ----

  static uint64_t key(uint32_t communicator, uint64_t sequence) {
    return uint64_t{communicator} << 40U | sequence;
  }

  void find_collectives() {
    for (Rank rank = 0; rank < job_.world_size; ++rank) {
      const Program& own = program(rank);
      for (uint32_t id = 0; id < own.nodes.size(); ++id) {
        const Node& node = own.nodes[id];
        if (!graph::is_collective(node.kind)) {
          continue;
        }
        const uint32_t communicator = job_.communicator(rank, node.communicator);
        Meeting& meeting = meetings_[key(communicator, node.sequence)];
        Meeting::Clock& clock = meeting.clocks[observed(rank).clock];
        clock.last_arrival = std::max(clock.last_arrival, span(rank, id).start);
        clock.first_end = std::min(clock.first_end, span(rank, id).end);
        if (graph::has_root(node.kind) &&
            job_.communicators[communicator].ranks[static_cast<size_t>(node.root)] == rank) {
          meeting.root = Member{rank, id};
        }
      }
    }
    for (const auto& [name, meeting] : meetings_) {
      result_.estimated += meeting.clocks.size() > 1 ? 1 : 0;
    }
  }

  void set_durations(Rank rank) {
    Program& own = program(rank);
    for (uint32_t id = 0; id < own.nodes.size(); ++id) {
      Node& node = own.nodes[id];
      const Span& at = span(rank, id);
      if (node.kind == Kind::Compute) {
        node.duration = at.end - at.start;
      } else if (graph::is_collective(node.kind)) {
        node.duration = at_least_0(collective(rank, id), result_.transfers);
      } else {
        for (uint32_t p = node.first_part; p < node.first_part + node.part_count; ++p) {
          own.parts[p].duration = at_least_0(message(rank, id, p), result_.transfers);
        }
      }
    }
  }

  DurationNs collective(Rank rank, uint32_t id) {
    const Node& node = program(rank).nodes[id];
    const Span& own = span(rank, id);
    const Meeting& meeting =
        meetings_.at(key(job_.communicator(rank, node.communicator), node.sequence));
    const bool is_root = meeting.root && meeting.root->rank == rank;
    if (meeting.root && (is_root ? node.kind == Kind::Broadcast : true)) {
      if (is_root) {
        return own.end - own.start;
      }
      const Span& root = span(meeting.root->rank, meeting.root->node);
      return same_clock(rank, meeting.root->rank)
                 ? own.end - std::max(own.start, root.start)
                 : std::min(own.end - own.start, root.end - root.start);
    }
    // How much later than the first of its clock this member ended is its own; the transfer is that
    // of the clock whose members came last.
    const Meeting::Clock& clock = meeting.clocks.at(observed(rank).clock);
    DurationNs transfer = clock.first_end - clock.last_arrival;
    for (const auto& [number, other] : meeting.clocks) {
      transfer = std::min(transfer, other.first_end - other.last_arrival);
    }
    return transfer + own.end - clock.first_end;
  }

  DurationNs message(Rank rank, uint32_t id, uint32_t p) {
    const Program& own = program(rank);
    const Part& part = own.parts[p];
    const Span& node = span(rank, id);
    const Span& at = observed(rank).parts[p];
    const bool eager = part.kind == Kind::Send && part.bytes <= options_.eager_bytes &&
                       own.communicators[part.communicator].backend == "nccl";
    const graph::PartOf other =
        eager ? graph::PartOf{rank, graph::kNone} : graph::partner(job_, messages_, rank, p);
    if (other.part == graph::kNone) {
      return at.end - node.start;
    }
    const Span& its = observed(other.rank).parts[other.part];
    const Span& its_node = span(other.rank, node_of_part(other));
    if (same_clock(rank, other.rank)) {
      return at.end - std::max(node.start, its_node.start);
    }
    ++result_.estimated;
    return std::min(at.end - node.start, its.end - its_node.start);
  }

  uint32_t node_of_part(const graph::PartOf& part) const {
    return messages_.classes[job_.class_of[part.rank]].node_of_part[part.part];
  }

  const Observation& observation_;
  const CalibrateOptions& options_;
  const graph::Messages& messages_;
  Calibrated& result_;
  graph::Job& job_;
  std::unordered_map<uint32_t, TimeNs> origins_;  ///< by clock: the first arrival
  std::unordered_map<uint64_t, Meeting> meetings_;
};

}  // namespace

Result<Calibrated> calibrate(const Observation& observation, const CalibrateOptions& options) {
  std::vector<std::vector<Rank>> classes;
  std::vector<Program> programs;
  for (const ObservedRank& rank : observation.ranks) {
    classes.push_back({rank.program.rank});
    programs.push_back(rank.program);
  }
  Calibrated result;
  PRISM_TRY_ASSIGN(result.job,
                   graph::instantiate(observation.world_size, classes, std::move(programs)));
  PRISM_TRY(graph::check(result.job));
  PRISM_TRY_ASSIGN(const graph::Messages messages, graph::connect_messages(result.job));
  Calibration(observation, options, messages, result).run();
  return result;
}

}  // namespace prism::calibrate
