// SPDX-License-Identifier: Apache-2.0
#include "core/graph/validate.hpp"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "core/graph/describe.hpp"

namespace prism::graph {
namespace {

Status bad(const Program& program, const std::string& what) {
  return run_error("the recorded program of rank " + std::to_string(program.rank) + ": " + what,
                   Code::DataLoss);
}

Status bad_node(const Program& program, uint32_t node, const std::string& what) {
  return bad(program, describe_node(program, node) + " " + what);
}

Status check_communicator(const Program& program, const Communicator& communicator) {
  std::unordered_set<Rank> seen;
  for (const Rank rank : communicator.ranks) {
    if (rank >= program.world_size) {
      return bad(program, "communicator '" + communicator.name + "' contains rank " +
                              std::to_string(rank) + " of a world of " +
                              std::to_string(program.world_size));
    }
    if (!seen.insert(rank).second) {
      return bad(program, "communicator '" + communicator.name + "' contains rank " +
                              std::to_string(rank) + " twice");
    }
  }
  return {};
}

Status check_group_position(const Program& program, uint32_t node, uint32_t communicator,
                            int32_t position, const char* what) {
  const size_t size = program.communicators[communicator].ranks.size();
  if (position < 0 || static_cast<size_t>(position) >= size) {
    return bad_node(program, node,
                    std::string("names group position ") + std::to_string(position) + " as its " +
                        what + ", in a communicator of " + std::to_string(size));
  }
  return {};
}

Status check_parts(const Program& program, uint32_t id) {
  const Node& node = program.nodes[id];
  if (node.first_part > program.parts.size() ||
      node.part_count > program.parts.size() - node.first_part || node.part_count == 0) {
    return bad(program, "node " + std::to_string(id) + " has no valid parts");
  }
  for (uint32_t p = node.first_part; p < node.first_part + node.part_count; ++p) {
    const Part& part = program.parts[p];
    if ((part.kind != Kind::Send && part.kind != Kind::Recv) ||
        (node.kind != Kind::Batch && (node.kind != part.kind || node.part_count != 1))) {
      return bad(program, "node " + std::to_string(id) + " has parts of the wrong kind");
    }
    if (part.communicator >= program.communicators.size()) {
      return bad(program, "node " + std::to_string(id) + " uses an unknown communicator");
    }
    if (part.kind != Kind::Recv || part.peer != kAnySource) {
      PRISM_TRY(check_group_position(program, id, part.communicator, part.peer, "peer"));
    }
    if (part.duration < 0) {
      return bad_node(program, id, "has a negative duration");
    }
  }
  return {};
}

/// Follows dependencies and lane order from `start` until a node comes back.
Status report_forward_dependency(const Program& program, uint32_t start, uint32_t later) {
  // A dependency on a later node is a cycle when that node needs this one; the lane predecessor
  // and the dependencies of a node are all that it needs.
  std::vector<uint32_t> before(program.nodes.size(), kNone);  // who needs this node
  std::vector<uint32_t> lane_last(program.lanes.size(), kNone);
  std::vector<uint32_t> lane_previous(program.nodes.size(), kNone);
  for (uint32_t i = 0; i < program.nodes.size(); ++i) {
    lane_previous[i] = lane_last[program.nodes[i].lane];
    lane_last[program.nodes[i].lane] = i;
  }
  std::vector<uint32_t> open{later};
  before[later] = start;
  while (!open.empty() && before[start] == kNone) {
    const uint32_t at = open.back();
    open.pop_back();
    const auto visit = [&](uint32_t needed) {
      if (needed != kNone && needed < program.nodes.size() && before[needed] == kNone) {
        before[needed] = at;
        open.push_back(needed);
      }
    };
    visit(lane_previous[at]);
    const Node& node = program.nodes[at];
    for (uint32_t d = 0; d < node.dependency_count; ++d) {
      visit(program.dependencies[node.first_dependency + d]);
    }
  }
  if (before[start] == kNone) {
    return bad_node(
        program, start,
        "depends on a node that is recorded after it: " + describe_node(program, later));
  }
  std::vector<uint32_t> chain{start};
  for (uint32_t at = before[start]; at != start; at = before[at]) {
    chain.push_back(at);
  }
  std::string text = "its nodes wait for each other in a circle:";
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
    text += "\n  " + describe_node(program, *at) + " is waited for by";
  }
  text += "\n  " + describe_node(program, chain.back());
  return bad(program, text);
}

Status check_node(const Program& program, uint32_t id) {
  const Node& node = program.nodes[id];
  if (node.iteration >= program.iterations) {
    return bad(program, "node " + std::to_string(id) + " is in iteration " +
                            std::to_string(node.iteration) + " of " +
                            std::to_string(program.iterations));
  }
  if (is_collective(node.kind)) {
    if (node.communicator >= program.communicators.size()) {
      return bad(program, "node " + std::to_string(id) + " uses an unknown communicator");
    }
    if (has_root(node.kind)) {
      PRISM_TRY(check_group_position(program, id, node.communicator, node.root, "root"));
    }
  } else if (has_parts(node.kind)) {
    PRISM_TRY(check_parts(program, id));
  } else if (node.kind == Kind::Transfer) {
    if (node.of >= id ||
        !(is_collective(program.nodes[node.of].kind) || has_parts(program.nodes[node.of].kind))) {
      return bad(program,
                 "node " + std::to_string(id) + " moves the data of no earlier communication");
    }
  } else if (node.kind != Kind::Compute) {
    return bad(program, "node " + std::to_string(id) + " has an unknown kind");
  }
  if (node.duration < 0) {
    return bad_node(program, id, "has a negative duration");
  }
  return {};
}

}  // namespace

Status validate(const Program& program) {
  if (program.rank >= program.world_size) {
    return bad(program,
               "its rank is not below its world size " + std::to_string(program.world_size));
  }
  for (const Communicator& communicator : program.communicators) {
    PRISM_TRY(check_communicator(program, communicator));
    if (position_of(communicator, program.rank) == kNone) {
      return bad(program, "communicator '" + communicator.name + "' does not contain it");
    }
  }
  for (const Communicator& communicator : program.others) {
    PRISM_TRY(check_communicator(program, communicator));
  }
  // Indices first: descriptions of other nodes rely on them.
  for (uint32_t id = 0; id < program.nodes.size(); ++id) {
    const Node& node = program.nodes[id];
    if (node.lane >= program.lanes.size()) {
      return bad(program, "node " + std::to_string(id) + " is on an unknown lane");
    }
    if (node.gap < 0) {
      return bad(program, "node " + std::to_string(id) + " has a negative gap");
    }
    if (node.first_dependency > program.dependencies.size() ||
        node.dependency_count > program.dependencies.size() - node.first_dependency) {
      return bad(program, "node " + std::to_string(id) + " has no valid dependencies");
    }
    PRISM_TRY(check_node(program, id));
  }
  std::vector<uint64_t> next_sequence(program.communicators.size(), 0);
  std::vector<bool> moved(program.nodes.size(), false);
  for (uint32_t id = 0; id < program.nodes.size(); ++id) {
    const Node& node = program.nodes[id];
    for (uint32_t d = 0; d < node.dependency_count; ++d) {
      const uint32_t dependency = program.dependencies[node.first_dependency + d];
      if (dependency >= program.nodes.size()) {
        return bad_node(program, id, "depends on an unknown node");
      }
      if (dependency == id) {
        return bad_node(program, id, "depends on itself");
      }
      if (dependency > id) {
        return report_forward_dependency(program, id, dependency);
      }
    }
    if (is_collective(node.kind) && node.sequence != next_sequence[node.communicator]++) {
      return bad_node(program, id, "is out of sequence");
    }
    if (node.kind == Kind::Transfer) {
      if (moved[node.of]) {
        return bad_node(program, id, "moves data that an earlier transfer has moved");
      }
      moved[node.of] = true;
    }
  }
  return {};
}

}  // namespace prism::graph
