// SPDX-License-Identifier: Apache-2.0
#include "core/graph/difference.hpp"

#include <algorithm>
#include <tuple>

#include "core/graph/describe.hpp"

namespace prism::graph {
namespace {

class TwoPrograms {
 public:
  TwoPrograms(const Program& a, const Program& b) : a_(a), b_(b) {}

  std::string first_difference() const {
    const auto common = static_cast<uint32_t>(std::min(a_.nodes.size(), b_.nodes.size()));
    for (uint32_t id = 0; id < common; ++id) {
      if (!same(id)) {
        const std::string in_a = describe_node(a_, id);
        const std::string in_b = describe_node(b_, id);
        return in_a + " against " +
               (in_a == in_b ? "the same with other edges, peers or sizes" : in_b);
      }
    }
    if (a_.nodes.size() != b_.nodes.size()) {
      const Program& longer = a_.nodes.size() > b_.nodes.size() ? a_ : b_;
      return std::to_string(a_.nodes.size()) + " nodes against " + std::to_string(b_.nodes.size()) +
             "; only one has " + describe_node(longer, common);
    }
    return {};
  }

 private:
  bool same_communicator(uint32_t a, uint32_t b) const {
    return a_.communicators[a] == b_.communicators[b];
  }
  bool same_part(const Part& a, const Part& b) const {
    const auto key = [](const Part& p) {
      return std::tie(p.kind, p.peer, p.tag, p.bytes, p.dtype);
    };
    return key(a) == key(b) && same_communicator(a.communicator, b.communicator);
  }
  bool same(uint32_t id) const {
    const Node& a = a_.nodes[id];
    const Node& b = b_.nodes[id];
    const auto key = [](const Node& n) {
      return std::tie(n.kind, n.dtype, n.reduction, n.sequence, n.root, n.input_bytes,
                      n.output_bytes, n.part_count, n.of, n.dependency_count, n.iteration);
    };
    const auto dependency = [](const Program& program, const Node& node) {
      return program.dependencies.begin() + node.first_dependency;
    };
    const auto part = [](const Program& program, const Node& node) {
      return program.parts.begin() + node.first_part;
    };
    return key(a) == key(b) && a_.lanes[a.lane] == b_.lanes[b.lane] &&
           (!is_collective(a.kind) || same_communicator(a.communicator, b.communicator)) &&
           std::equal(dependency(a_, a), dependency(a_, a) + a.dependency_count,
                      dependency(b_, b)) &&
           std::equal(part(a_, a), part(a_, a) + a.part_count, part(b_, b),
                      [this](const Part& x, const Part& y) { return same_part(x, y); });
  }

  const Program& a_;
  const Program& b_;
};

}  // namespace

std::string first_difference(const Program& a, const Program& b) {
  return TwoPrograms(a, b).first_difference();
}

}  // namespace prism::graph
