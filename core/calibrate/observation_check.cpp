// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/observation_check.hpp"

#include <limits>

#include "core/calibrate/observation_limits.hpp"
#include "core/graph/file/program_codec.hpp"

namespace prism::calibrate {
namespace {

class RankCheck {
 public:
  RankCheck(const ObservedRank& rank, uint32_t world_size, const std::string& where)
      : rank_(rank),
        program_(rank.program),
        world_size_(world_size),
        where_(where + ", rank " + std::to_string(rank.program.rank)) {}

  Status run() const {
    if (rank_.nodes.size() != program_.nodes.size() ||
        rank_.parts.size() != program_.parts.size() ||
        program_.labels.size() != program_.nodes.size()) {
      return bad("expected a span and a label of each node, and a span of each part");
    }
    PRISM_TRY(graph::file::check_labels(program_, where_));
    for (const auto* list : {&program_.communicators, &program_.others}) {
      for (const graph::Communicator& communicator : *list) {
        for (const Rank member : communicator.ranks) {
          if (member >= world_size_) {
            return bad("communicator '" + communicator.name + "' contains rank " +
                       std::to_string(member) + " of " + std::to_string(world_size_));
          }
        }
      }
    }
    return check_nodes();
  }

 private:
  Status bad(const std::string& what) const {
    return run_error(where_ + ": " + what, Code::DataLoss);
  }
  Status bad_node(size_t node, const std::string& what) const {
    return bad("node " + std::to_string(node) + " " + what);
  }

  Status check_nodes() const {
    std::vector<TimeNs> lane_end(program_.lanes.size(), std::numeric_limits<TimeNs>::min());
    std::vector<uint64_t> next_sequence(program_.communicators.size(), 0);
    for (size_t id = 0; id < program_.nodes.size(); ++id) {
      const graph::Node& node = program_.nodes[id];
      const Span& span = rank_.nodes[id];
      if (node.lane >= lane_end.size()) {
        return bad_node(id, "is on an unknown lane");
      }
      if (is_far(span) || span.end < span.start || span.start < lane_end[node.lane]) {
        return bad_node(id, "has a time that cannot be: from " + std::to_string(span.start) +
                                " to " + std::to_string(span.end) + " ns");
      }
      lane_end[node.lane] = span.end;
      if (node.iteration != graph::kNone && node.iteration >= program_.iterations) {
        return bad_node(id, "is in iteration " + std::to_string(node.iteration) + " of " +
                                std::to_string(program_.iterations));
      }
      if (graph::is_collective(node.kind)) {
        if (node.communicator >= next_sequence.size()) {
          return bad_node(id, "is a collective without a communicator");
        }
        if (node.sequence < next_sequence[node.communicator]) {
          return bad_node(id, "is out of sequence");
        }
        next_sequence[node.communicator] = node.sequence + 1;
      }
      PRISM_TRY(check_parts(id));
      if (node.first_dependency > program_.dependencies.size() ||
          node.dependency_count > program_.dependencies.size() - node.first_dependency) {
        return bad_node(id, "has no valid dependencies");
      }
      for (uint32_t d = 0; d < node.dependency_count; ++d) {
        if (program_.dependencies[node.first_dependency + d] >= id) {
          return bad_node(id, "depends on a node that is not before it");
        }
      }
    }
    return {};
  }

  Status check_parts(size_t id) const {
    const graph::Node& node = program_.nodes[id];
    if (graph::has_parts(node.kind) != (node.part_count > 0) ||
        node.first_part > program_.parts.size() ||
        node.part_count > program_.parts.size() - node.first_part) {
      return bad_node(id, "has no valid parts");
    }
    for (uint32_t p = node.first_part; p < node.first_part + node.part_count; ++p) {
      const Span& span = rank_.parts[p];
      if (is_far(span) || is_far({span.end, span.start})) {
        return bad_node(id, "has a part with a time that cannot be");
      }
    }
    return {};
  }

  const ObservedRank& rank_;
  const graph::Program& program_;
  uint32_t world_size_;
  std::string where_;
};

}  // namespace

Status check_observation(const Observation& observation, const std::string& where) {
  if (observation.world_size > kMostRanks) {
    return run_error(where + ": a world of " + std::to_string(observation.world_size) +
                         " ranks cannot be right; the most is " + std::to_string(kMostRanks),
                     Code::DataLoss);
  }
  Rank next = 0;
  for (const ObservedRank& rank : observation.ranks) {
    if (rank.program.rank < next || rank.program.rank >= observation.world_size ||
        rank.program.world_size != observation.world_size) {
      return run_error(where + ": rank " + std::to_string(rank.program.rank) + " of " +
                           std::to_string(rank.program.world_size) + " where one from " +
                           std::to_string(next) + " on, of " +
                           std::to_string(observation.world_size) + ", is expected",
                       Code::DataLoss);
    }
    next = rank.program.rank + 1;
    PRISM_TRY(RankCheck(rank, observation.world_size, where).run());
  }
  return {};
}

}  // namespace prism::calibrate
