// SPDX-License-Identifier: Apache-2.0
#include "core/replay/compiled.hpp"

#include <algorithm>
#include <utility>

namespace prism::replay {

using graph::Node;
using graph::Program;

namespace {

Op make_op(const Program& program, uint32_t id) {
  const Node& node = program.nodes[id];
  Op op;
  op.kind = node.kind;
  op.node = id;
  op.iteration = node.iteration;
  if (graph::is_collective(node.kind)) {
    op.slot = node.communicator;
    op.sequence = static_cast<uint32_t>(node.sequence);
    op.root = node.root;
  } else if (graph::has_parts(node.kind)) {
    op.first_part = node.first_part;
    op.part_count = node.part_count;
  }
  return op;
}

size_t lane_with_most_compute(const Program& program) {
  std::vector<uint32_t> nodes(program.lanes.size(), 0);
  for (const Node& node : program.nodes) {
    nodes[node.lane] += node.kind == graph::Kind::Compute ? 1 : 0;
  }
  return static_cast<size_t>(std::max_element(nodes.begin(), nodes.end()) - nodes.begin());
}

void place_nodes(const Program& program, Compiled& out) {
  out.lanes.resize(program.lanes.size());
  const auto is_cpu = [](const graph::Lane& lane) { return lane.kind == graph::LaneKind::Cpu; };
  const auto first_cpu = std::find_if(program.lanes.begin(), program.lanes.end(), is_cpu);
  const bool no_cpu = first_cpu == program.lanes.end();
  for (size_t l = 0; l < program.lanes.size(); ++l) {
    out.lanes[l].cpu = no_cpu || is_cpu(program.lanes[l]);
  }
  if (!program.lanes.empty()) {
    const auto main = no_cpu ? lane_with_most_compute(program)
                             : static_cast<size_t>(first_cpu - program.lanes.begin());
    out.lanes[main].main = true;
  }
  out.place_of_node.resize(program.nodes.size());
  for (uint32_t id = 0; id < program.nodes.size(); ++id) {
    const uint32_t lane = program.nodes[id].lane;
    out.place_of_node[id] = {lane, out.lanes[lane].op_count++};
  }
  uint32_t first = 0;
  for (CompiledLane& lane : out.lanes) {
    lane.first_op = first;
    first += lane.op_count;
  }
}

/// Which lanes read which, and from where on they need what.
void find_readers(Compiled& compiled) {
  const auto lanes = static_cast<uint32_t>(compiled.lanes.size());
  for (uint32_t reader = 0; reader < lanes; ++reader) {
    const CompiledLane& own = compiled.lanes[reader];
    std::vector<std::vector<uint32_t>> first_needed(lanes);
    for (uint32_t index = own.op_count; index-- > 0;) {
      const Op& op = compiled.ops[own.first_op + index];
      for (uint32_t d = 0; d < op.dependency_count; ++d) {
        const Dependency& dependency = compiled.dependencies[op.first_dependency + d];
        std::vector<uint32_t>& needed = first_needed[dependency.lane];
        needed.resize(own.op_count, kNone);
        needed[index] = std::min(needed[index], dependency.source);
      }
    }
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      std::vector<uint32_t>& needed = first_needed[lane];
      if (needed.empty()) {
        continue;
      }
      for (uint32_t index = own.op_count - 1; index-- > 0;) {
        needed[index] = std::min(needed[index], needed[index + 1]);
      }
      compiled.lanes[lane].read_by.push_back({reader, std::move(needed)});
    }
  }
}

}  // namespace

Compiled compile(const Program& program, uint32_t first_iteration, uint32_t last_iteration) {
  Compiled out;
  place_nodes(program, out);
  out.collectives.resize(program.communicators.size());
  out.ops.resize(program.nodes.size());

  std::vector<std::vector<Place>> readers(program.nodes.size());
  std::vector<std::vector<uint32_t>> needed(program.nodes.size());
  for (uint32_t id = 0; id < program.nodes.size(); ++id) {
    const Node& node = program.nodes[id];
    for (uint32_t d = 0; d < node.dependency_count; ++d) {
      const uint32_t dependency = program.dependencies[node.first_dependency + d];
      // Lane order covers those on the same lane.
      if (program.nodes[dependency].lane != node.lane &&
          std::find(needed[id].begin(), needed[id].end(), dependency) == needed[id].end()) {
        needed[id].push_back(dependency);
        readers[dependency].push_back(out.place_of_node[id]);
      }
    }
  }
  std::vector<uint32_t> sources_of_lane(out.lanes.size(), 0);
  for (uint32_t id = 0; id < program.nodes.size(); ++id) {
    const Node& node = program.nodes[id];
    const CompiledLane& lane = out.lanes[node.lane];
    Op op = make_op(program, id);
    op.in_window = node.iteration >= first_iteration && node.iteration <= last_iteration;
    if (op.in_window) {
      op.kept = out.kept++;
    }
    if (op.slot != kNone) {
      out.collectives[op.slot].push_back(id);
    }
    op.first_dependency = static_cast<uint32_t>(out.dependencies.size());
    op.dependency_count = static_cast<uint32_t>(needed[id].size());
    for (const uint32_t dependency : needed[id]) {
      const Place place = out.place_of_node[dependency];
      out.dependencies.push_back({place, out.op(place).source});
    }
    op.first_reader = static_cast<uint32_t>(out.readers.size());
    op.reader_count = static_cast<uint32_t>(readers[id].size());
    out.readers.insert(out.readers.end(), readers[id].begin(), readers[id].end());
    if (op.reader_count != 0) {
      op.source = sources_of_lane[node.lane]++;
    }
    out.ops[lane.first_op + out.place_of_node[id].index] = op;
  }
  for (const CompiledLane& lane : out.lanes) {
    for (uint32_t index = 0; lane.cpu && index < lane.op_count; ++index) {
      Op& op = out.ops[lane.first_op + index];
      op.ends_iteration = index + 1 == lane.op_count ||
                          out.ops[lane.first_op + index + 1].iteration != op.iteration;
    }
  }
  find_readers(out);
  return out;
}

}  // namespace prism::replay
