// SPDX-License-Identifier: Apache-2.0
#include "core/graph/builder.hpp"

#include <utility>

#include "core/base/status.hpp"

namespace prism::graph {

Builder::Builder(Rank rank, uint32_t world_size) {
  program_.rank = rank;
  program_.world_size = world_size;
}

void Builder::number(Communicator& communicator) {
  communicator.nth = count_alike(program_, communicator);
  communicator.creation = creations_++;
}

uint32_t Builder::add_communicator(Communicator communicator) {
  number(communicator);
  program_.communicators.push_back(std::move(communicator));
  next_sequence_.push_back(0);
  return static_cast<uint32_t>(program_.communicators.size() - 1);
}

void Builder::add_other(Communicator communicator) {
  number(communicator);
  program_.others.push_back(std::move(communicator));
}

uint32_t Builder::add_lane(LaneKind kind, std::string name) {
  program_.lanes.push_back({kind, std::move(name)});
  return static_cast<uint32_t>(program_.lanes.size() - 1);
}

uint32_t Builder::append(Node node, uint32_t lane, const std::vector<uint32_t>& dependencies) {
  const auto id = static_cast<uint32_t>(program_.nodes.size());
  PRISM_ASSERT(lane < program_.lanes.size());
  node.lane = lane;
  node.iteration = iteration_;
  node.first_dependency = static_cast<uint32_t>(program_.dependencies.size());
  node.dependency_count = static_cast<uint32_t>(dependencies.size());
  for (const uint32_t dependency : dependencies) {
    PRISM_ASSERT(dependency < id);
    program_.dependencies.push_back(dependency);
  }
  program_.nodes.push_back(node);
  program_.iterations = iteration_ + 1;
  return id;
}

uint32_t Builder::add_compute(uint32_t lane, DurationNs duration,
                              const std::vector<uint32_t>& dependencies) {
  Node node;
  node.duration = duration;
  return append(node, lane, dependencies);
}

uint32_t Builder::add_collective(uint32_t lane, const Collective& collective,
                                 const std::vector<uint32_t>& dependencies) {
  PRISM_ASSERT(is_collective(collective.kind));
  PRISM_ASSERT(collective.communicator < next_sequence_.size());
  Node node;
  node.kind = collective.kind;
  node.dtype = collective.dtype;
  node.reduction = collective.reduction;
  node.communicator = collective.communicator;
  node.sequence = next_sequence_[collective.communicator]++;
  node.root = collective.root;
  node.input_bytes = collective.input_bytes;
  node.output_bytes = collective.output_bytes;
  node.duration = collective.duration;
  return append(node, lane, dependencies);
}

uint32_t Builder::append_parts(Kind kind, uint32_t lane, const std::vector<Part>& parts,
                               const std::vector<uint32_t>& dependencies) {
  Node node;
  node.kind = kind;
  node.first_part = static_cast<uint32_t>(program_.parts.size());
  node.part_count = static_cast<uint32_t>(parts.size());
  for (const Part& part : parts) {
    PRISM_ASSERT(part.kind == Kind::Send || part.kind == Kind::Recv);
    PRISM_ASSERT(part.communicator < program_.communicators.size());
    (part.kind == Kind::Send ? node.input_bytes : node.output_bytes) += part.bytes;
    program_.parts.push_back(part);
  }
  return append(node, lane, dependencies);
}

uint32_t Builder::add_message(uint32_t lane, const Part& part,
                              const std::vector<uint32_t>& dependencies) {
  return append_parts(part.kind, lane, {part}, dependencies);
}

uint32_t Builder::add_batch(uint32_t lane, const std::vector<Part>& parts,
                            const std::vector<uint32_t>& dependencies) {
  return append_parts(Kind::Batch, lane, parts, dependencies);
}

uint32_t Builder::add_transfer(uint32_t lane, uint32_t of, DurationNs duration,
                               const std::vector<uint32_t>& dependencies) {
  Node node;
  node.kind = Kind::Transfer;
  node.of = of;
  node.duration = duration;
  std::vector<uint32_t> all = dependencies;
  all.push_back(of);
  return append(node, lane, all);
}

void Builder::next_iteration() {
  ++iteration_;
}

Program Builder::finish() && {
  return std::move(program_);
}

}  // namespace prism::graph
