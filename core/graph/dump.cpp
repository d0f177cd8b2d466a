// SPDX-License-Identifier: Apache-2.0
#include "core/graph/dump.hpp"

namespace prism::graph {
namespace {

template <typename T>
void list(JsonWriter& json, const char* name, const std::vector<T>& values) {
  json.key(name).begin_array();
  for (const T& value : values) {
    json.value(value);
  }
  json.end_array();
}

void write(JsonWriter& json, const Communicator& communicator) {
  json.begin_object();
  json.member("name", communicator.name);
  json.member("description", communicator.description);
  json.member("backend", communicator.backend);
  json.member("nth", communicator.nth);
  list(json, "ranks", communicator.ranks);
  json.end_object();
}

void write(JsonWriter& json, const Part& part) {
  json.begin_object();
  json.member("kind", to_string(part.kind));
  json.member("peer", part.peer);
  json.member("tag", part.tag);
  json.member("communicator", part.communicator);
  json.member("bytes", part.bytes);
  json.member("dtype", part.dtype);
  json.member("duration", part.duration);
  json.end_object();
}

void write(JsonWriter& json, const Program& program, const Node& node) {
  json.begin_object();
  json.member("kind", to_string(node.kind));
  json.member("lane", node.lane);
  json.member("iteration", node.iteration);
  json.member("duration", node.duration);
  json.member("gap", node.gap);
  if (is_collective(node.kind)) {
    json.member("communicator", node.communicator);
    json.member("sequence", node.sequence);
    json.member("root", node.root);
    json.member("input_bytes", node.input_bytes);
    json.member("output_bytes", node.output_bytes);
  }
  if (node.kind == Kind::Transfer) {
    json.member("of", node.of);
  }
  if (has_parts(node.kind)) {
    json.key("parts").begin_array();
    for (uint32_t p = node.first_part; p < node.first_part + node.part_count; ++p) {
      write(json, program.parts[p]);
    }
    json.end_array();
  }
  json.key("dependencies").begin_array();
  for (uint32_t d = 0; d < node.dependency_count; ++d) {
    json.value(program.dependencies[node.first_dependency + d]);
  }
  json.end_array();
  json.end_object();
}

void write(JsonWriter& json, const Class& c) {
  const Program& program = c.program;
  json.begin_object();
  list(json, "members", c.members);
  json.member("representative", c.representative);
  json.member("iterations", program.iterations);
  json.key("lanes").begin_array();
  for (const Lane& lane : program.lanes) {
    json.value(lane.name);
  }
  json.end_array();
  json.key("communicators").begin_array();
  for (const Communicator& communicator : program.communicators) {
    write(json, communicator);
  }
  json.end_array();
  json.key("nodes").begin_array();
  for (const Node& node : program.nodes) {
    write(json, program, node);
  }
  json.end_array();
  json.end_object();
}

}  // namespace

void dump(const Job& job, JsonWriter& json) {
  json.begin_object();
  json.member("world_size", job.world_size);
  json.key("communicators").begin_array();
  for (const JobCommunicator& communicator : job.communicators) {
    write(json, communicator);
  }
  json.end_array();
  json.key("classes").begin_array();
  for (const Class& c : job.classes) {
    write(json, c);
  }
  json.end_array();
  json.key("communicator_of_slot").begin_array();
  for (Rank rank = 0; rank < job.world_size; ++rank) {
    json.begin_array();
    for (uint32_t slot = 0; slot < job.program(rank).communicators.size(); ++slot) {
      const uint32_t communicator = job.communicator(rank, slot);
      if (communicator == kNone) {
        json.null();
      } else {
        json.value(communicator);
      }
    }
    json.end_array();
  }
  json.end_array();
  json.end_object();
}

}  // namespace prism::graph
