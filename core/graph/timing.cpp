// SPDX-License-Identifier: Apache-2.0
#include "core/graph/timing.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace prism::graph {

void apply_links(Program& program, const LinkChooser& choose) {
  std::vector<link::Link> links;
  for (const Communicator& communicator : program.communicators) {
    links.push_back(choose(communicator));
  }
  std::vector<bool> has_transfer(program.nodes.size(), false);
  for (const Node& node : program.nodes) {
    if (node.kind == Kind::Transfer) {
      has_transfer[node.of] = true;
    }
  }
  std::vector<DurationNs> moving(program.nodes.size(), 0);
  for (size_t id = 0; id < program.nodes.size(); ++id) {
    Node& node = program.nodes[id];
    if (is_collective(node.kind)) {
      const Communicator& communicator = program.communicators[node.communicator];
      moving[id] = link::collective_duration(
          links[node.communicator], communicator.backend, static_cast<int32_t>(node.kind),
          static_cast<uint32_t>(communicator.ranks.size()), node.input_bytes, node.output_bytes);
      node.duration = has_transfer[id] ? 0 : moving[id];
    } else if (has_parts(node.kind)) {
      for (uint32_t p = node.first_part; p < node.first_part + node.part_count; ++p) {
        Part& part = program.parts[p];
        const DurationNs duration = link::message_duration(links[part.communicator], part.bytes);
        moving[id] = std::min(link::kLongest, moving[id] + duration);
        part.duration = has_transfer[id] ? 0 : duration;
      }
      node.duration = 0;
    } else if (node.kind == Kind::Transfer) {
      node.duration = moving[node.of];
    }
  }
}

void apply_links(Job& job, const LinkChooser& choose) {
  for (Class& c : job.classes) {
    apply_links(c.program, choose);
  }
}

void scale_compute(Program& program, double factor) {
  for (Node& node : program.nodes) {
    if (node.kind == Kind::Compute) {
      node.duration = std::llround(static_cast<double>(node.duration) * factor);
    }
  }
}

void scale_compute(Job& job, double factor) {
  for (Class& c : job.classes) {
    scale_compute(c.program, factor);
  }
}

}  // namespace prism::graph
