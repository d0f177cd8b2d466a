// SPDX-License-Identifier: Apache-2.0
#include "core/graph/replicas.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "core/base/file.hpp"

namespace prism::graph {
namespace {

/// A text that is equal for programs of equal structure.
class Structure {
 public:
  explicit Structure(const Program& program) : program_(program) {
    text_.reserve(program.nodes.size() * 64);
    for (const Lane& lane : program.lanes) {
      add(static_cast<uint64_t>(lane.kind));
    }
    for (const Communicator& communicator : program.communicators) {
      add(communicator.ranks.size());
      add(communicator.description);
      add(communicator.backend);
    }
    for (size_t id = 0; id < program.nodes.size(); ++id) {
      add(program.nodes[id]);
    }
  }
  std::string take() { return std::move(text_); }

 private:
  void add(uint64_t number) { text_.append(reinterpret_cast<const char*>(&number), sizeof number); }
  void add(const std::string& text) {
    add(text.size());
    text_ += text;
  }
  void add(const Node& node) {
    add(uint64_t{static_cast<uint8_t>(node.kind)} | uint64_t{node.dtype} << 8U |
        uint64_t{node.reduction} << 16U | uint64_t{node.lane} << 32U);
    add(node.input_bytes);
    add(node.output_bytes);
    add(uint64_t{node.iteration} << 32U | node.of);
    add(uint64_t{node.part_count} << 32U | node.dependency_count);
    if (is_collective(node.kind)) {
      add(node.communicator);
    }
    for (uint32_t d = 0; d < node.dependency_count; ++d) {
      add(program_.dependencies[node.first_dependency + d]);
    }
    for (uint32_t p = node.first_part; p < node.first_part + node.part_count; ++p) {
      const Part& part = program_.parts[p];
      add(uint64_t{static_cast<uint8_t>(part.kind)} | uint64_t{part.dtype} << 8U |
          uint64_t{part.communicator} << 32U);
      add(part.bytes);
    }
  }

  const Program& program_;
  std::string text_;
};

std::vector<std::vector<Rank>> groups_of_equal_structure(const Job& job) {
  std::map<std::string, std::vector<Rank>> groups;  // by hash: structures are long
  for (const Class& c : job.classes) {
    groups[content_hash(Structure(c.program).take())].push_back(c.members.front());
  }
  std::vector<std::vector<Rank>> result;
  result.reserve(groups.size());
  for (auto& [structure, ranks] : groups) {
    std::sort(ranks.begin(), ranks.end());
    result.push_back(std::move(ranks));
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace

Replicas replicas_of(const Job& job) {
  Replicas result;
  const bool has_classes = std::any_of(job.classes.begin(), job.classes.end(),
                                       [](const Class& c) { return c.members.size() > 1; });
  if (has_classes) {
    result.groups.reserve(job.classes.size());
    for (const Class& c : job.classes) {
      result.groups.push_back(c.members);
    }
  } else {
    result.groups = groups_of_equal_structure(job);
  }
  result.group_of.resize(job.world_size);
  result.place_of.resize(job.world_size);
  for (uint32_t group = 0; group < result.groups.size(); ++group) {
    for (uint32_t place = 0; place < result.groups[group].size(); ++place) {
      const Rank rank = result.groups[group][place];
      result.group_of[rank] = group;
      result.place_of[rank] = place;
    }
  }
  return result;
}

}  // namespace prism::graph
