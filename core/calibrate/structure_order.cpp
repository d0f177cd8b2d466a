// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/structure_order.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace prism::calibrate {
namespace {

/// Nodes that have to follow each other.
struct Queue {
  std::vector<size_t> places;  ///< into `ids`
  size_t next = 0;
  bool waits() const { return next < places.size(); }
};

class Order {
 public:
  Order(const graph::Program& program, const std::vector<uint32_t>& ids)
      : program_(program),
        ids_(ids),
        done_(ids.size(), false),
        lanes_(program.lanes.size()),
        communicators_(program.communicators.size()) {
    for (size_t place = 0; place < ids.size(); ++place) {
      lanes_[program.nodes[ids[place]].lane].places.push_back(place);
      for_each_communicator(place, [&](Queue& queue) { queue.places.push_back(place); });
    }
  }

  std::vector<uint32_t> run() {
    std::vector<uint32_t> order;
    order.reserve(ids_.size());
    // The first node of `ids` that is left can always go, so each round makes progress.
    while (order.size() < ids_.size()) {
      for (Queue& lane : lanes_) {
        for (; lane.waits() && may_go(lane.places[lane.next]); ++lane.next) {
          const size_t place = lane.places[lane.next];
          done_[place] = true;
          for_each_communicator(place, [](Queue& queue) { ++queue.next; });
          order.push_back(ids_[place]);
        }
      }
    }
    return order;
  }

 private:
  /// Once for each communicator that the node uses.
  template <typename Visit>
  void for_each_communicator(size_t place, Visit visit) {
    const graph::Node& node = program_.nodes[ids_[place]];
    if (graph::is_collective(node.kind)) {
      visit(communicators_[node.communicator]);
    }
    const auto first = program_.parts.begin() + node.first_part;
    for (auto part = first; part != first + node.part_count; ++part) {
      const bool seen = std::any_of(first, part, [&](const graph::Part& before) {
        return before.communicator == part->communicator;
      });
      if (!seen) {
        visit(communicators_[part->communicator]);
      }
    }
  }

  bool may_go(size_t place) {
    const graph::Node& node = program_.nodes[ids_[place]];
    for (uint32_t d = 0; d < node.dependency_count; ++d) {
      const uint32_t dependency = program_.dependencies[node.first_dependency + d];
      const auto found = std::lower_bound(ids_.begin(), ids_.end(), dependency);
      if (found != ids_.end() && *found == dependency &&
          !done_[static_cast<size_t>(found - ids_.begin())]) {
        return false;
      }
    }
    bool first = true;
    for_each_communicator(place, [&](Queue& queue) { first &= queue.places[queue.next] == place; });
    return first;
  }

  const graph::Program& program_;
  const std::vector<uint32_t>& ids_;
  std::vector<bool> done_;  ///< by place in `ids`
  std::vector<Queue> lanes_;
  std::vector<Queue> communicators_;
};

}  // namespace

std::vector<uint32_t> structure_order(const graph::Program& program,
                                      const std::vector<uint32_t>& ids) {
  return Order(program, ids).run();
}

graph::Program selected(const graph::Program& program, const std::vector<uint32_t>& order) {
  graph::Program result;
  result.rank = program.rank;
  result.world_size = program.world_size;
  result.iterations = program.iterations;
  result.lanes = program.lanes;
  result.communicators = program.communicators;
  result.others = program.others;
  result.texts = program.texts;
  std::vector<uint32_t> number(program.nodes.size(), graph::kNone);
  result.nodes.reserve(order.size());
  for (const uint32_t id : order) {
    number[id] = static_cast<uint32_t>(result.nodes.size());
    graph::Node node = program.nodes[id];
    const auto first_dependency = static_cast<uint32_t>(result.dependencies.size());
    for (uint32_t d = 0; d < node.dependency_count; ++d) {
      const uint32_t dependency = number[program.dependencies[node.first_dependency + d]];
      if (dependency != graph::kNone) {
        result.dependencies.push_back(dependency);
      }
    }
    std::sort(result.dependencies.begin() + first_dependency, result.dependencies.end());
    node.first_dependency = first_dependency;
    node.dependency_count = static_cast<uint32_t>(result.dependencies.size()) - first_dependency;
    const auto part = program.parts.begin() + node.first_part;
    node.first_part = static_cast<uint32_t>(result.parts.size());
    result.parts.insert(result.parts.end(), part, part + node.part_count);
    if (node.of != graph::kNone) {
      node.of = number[node.of];
    }
    if (!program.labels.empty()) {
      result.labels.push_back(program.labels[id]);
    }
    result.nodes.push_back(node);
  }
  return result;
}

graph::Program in_structure_order(const graph::Program& program) {
  std::vector<uint32_t> all(program.nodes.size());
  std::iota(all.begin(), all.end(), 0);
  return selected(program, structure_order(program, all));
}

}  // namespace prism::calibrate
