// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/structure_order.hpp"

#include <algorithm>
#include <cstddef>

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
    for_each_communicator(place,
                          [&](Queue& queue) { first &= queue.places[queue.next] == place; });
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

}  // namespace prism::calibrate
