// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/chakra/node.hpp"

#include <algorithm>
#include <iterator>

#include "plugins/formats/chakra/process_groups.hpp"

namespace prism::chakra {
namespace {

constexpr uint64_t kMostType = static_cast<uint64_t>(NodeType::Collective);
/// The host takes times up to 4 * 10^18 ns.
constexpr uint64_t kMostTime = 4'000'000'000'000'000;
constexpr int64_t kMostRank = kNone - 1;

uint64_t time_of(const Field& field, const char* name) {
  expect_wire(field, Wire::Varint, name);
  if (field.value > kMostTime) {
    throw Malformed("its " + std::string(name) + " is " + std::to_string(field.value) +
                    "; at most " + std::to_string(kMostTime) + " was expected");
  }
  return field.value;
}

/// An element type or a reduction, as the host keeps it.
int32_t byte_of(const Attribute& attribute) {
  return static_cast<int32_t>(attribute.integer(0, 255));
}

}  // namespace

void NodeReader::read(std::string_view message) {
  node_ = Node();
  node_.first_dependency = trace_.dependencies.size();
  inputs_ = {};
  attributes_.clear();
  Field field;
  while (take_field(message, field)) {
    read_field(field);
  }
  for (const std::string_view attribute : attributes_) {
    read_attribute(Attribute(attribute));
  }
  node_.dependency_count =
      static_cast<uint32_t>(trace_.dependencies.size() - node_.first_dependency);
  if (node_.type == NodeType::Metadata && !trace_.is_own) {
    read_inputs();
  }
  trace_.nodes.push_back(node_);
}

void NodeReader::read_field(const Field& field) {
  switch (field.number) {
    case node_field::kId:
      expect_wire(field, Wire::Varint, "id");
      node_.id = field.value;
      break;
    case node_field::kName:
      expect_wire(field, Wire::Bytes, "name");
      node_.name = field.bytes.empty() ? kNone : trace_.texts.number_of(field.bytes);
      break;
    case node_field::kType:
      expect_wire(field, Wire::Varint, "type");
      if (field.value > kMostType) {
        throw Malformed("its type is " + std::to_string(field.value) + "; 0 to " +
                        std::to_string(kMostType) + " was expected");
      }
      node_.type = static_cast<NodeType>(field.value);
      break;
    case node_field::kControlDependencies:
      read_dependencies(field, true);
      break;
    case node_field::kDataDependencies:
      read_dependencies(field, false);
      break;
    case node_field::kStart:
      node_.start_us = time_of(field, "start_time_micros");
      break;
    case node_field::kDuration:
      node_.duration_us = time_of(field, "duration_micros");
      break;
    case node_field::kInputs:
      expect_wire(field, Wire::Bytes, "inputs");
      inputs_ = field.bytes;
      break;
    case node_field::kAttribute:
      expect_wire(field, Wire::Bytes, "attr");
      attributes_.push_back(field.bytes);
      break;
    default:
      break;  // outputs, and what newer versions may have
  }
}

void NodeReader::read_dependencies(Field field, bool control) {
  if (field.wire == Wire::Bytes) {
    while (!field.bytes.empty()) {
      add_dependency(take_varint(field.bytes), control);
    }
    return;
  }
  expect_wire(field, Wire::Varint, control ? "ctrl_deps" : "data_deps");
  add_dependency(field.value, control);
}

void NodeReader::add_dependency(uint64_t id, bool control) {
  trace_.dependencies.push_back(id);
  trace_.control.push_back(control);
}

void NodeReader::read_attribute(const Attribute& attribute) {
  struct Known {
    std::string_view name;
    void (*read)(NodeReader& reader, const Attribute& attribute);
  };
  using Self = NodeReader;
  static constexpr Known kKnown[] = {
      // sorted by name
      {attribute::kDestination,
       [](Self& s, const Attribute& a) {
         s.communication().destination = a.integer(0, kMostRank);
       }},
      {attribute::kSize,
       [](Self& s, const Attribute& a) { s.communication().bytes = a.integer(0); }},
      {attribute::kSource,
       [](Self& s, const Attribute& a) { s.communication().source = a.integer(0, kMostRank); }},
      {attribute::kTag, [](Self& s, const Attribute& a) { s.communication().tag = a.integer32(); }},
      {attribute::kCollective,
       [](Self& s, const Attribute& a) { s.communication().type = a.integer(); }},
      {attribute::kDimensions,
       [](Self& s, const Attribute& a) {
         const std::vector<int64_t> takes_part = a.integers(0, 1);
         s.communication().some_dimensions =
             std::find(takes_part.begin(), takes_part.end(), 0) != takes_part.end();
       }},
      {attribute::kOnCpu, [](Self& s, const Attribute& a) { s.node_.on_cpu = a.flag(); }},
      {attribute::kGroup,
       [](Self& s, const Attribute& a) {
         const std::string name = a.name_or_number();
         s.communication().group = name.empty() ? kNone : s.trace_.texts.number_of(name);
       }},
      {own::kArrival, [](Self& s, const Attribute& a) { s.own().arrival_ns = a.integer(); }},
      {own::kBatch, [](Self& s, const Attribute& a) { s.own().batch = a.flag(); }},
      {own::kChunk, [](Self& s, const Attribute& a) { s.own().chunk = a.integer32(); }},
      {own::kCommunicator,
       [](Self& s, const Attribute& a) { s.communication().communicator = a.integer(0); }},
      {own::kDtype, [](Self& s, const Attribute& a) { s.communication().dtype = byte_of(a); }},
      {own::kEnd, [](Self& s, const Attribute& a) { s.own().end_ns = a.integer(); }},
      {own::kInputBytes,
       [](Self& s, const Attribute& a) { s.communication().input_bytes = a.integer(0); }},
      {own::kIteration, [](Self& s, const Attribute& a) { s.own().iteration = a.integer32(); }},
      {own::kLane, [](Self& s, const Attribute& a) { s.own().lane = a.integer(0); }},
      {own::kLaneOrder, [](Self& s, const Attribute& a) { s.own().lane_order = a.flag(); }},
      {own::kLayer, [](Self& s, const Attribute& a) { s.own().layer = a.integer32(); }},
      {own::kMicroBatch, [](Self& s, const Attribute& a) { s.own().micro_batch = a.integer32(); }},
      {own::kOutputBytes,
       [](Self& s, const Attribute& a) { s.communication().output_bytes = a.integer(0); }},
      {own::kPart, [](Self& s, const Attribute& a) { s.own().part = a.flag(); }},
      {own::kPeer, [](Self& s, const Attribute& a) { s.communication().peer = a.integer32(); }},
      {own::kPhase,
       [](Self& s, const Attribute& a) { s.own().phase = s.trace_.texts.number_of(a.text()); }},
      {own::kReduction,
       [](Self& s, const Attribute& a) { s.communication().reduction = byte_of(a); }},
      {own::kRoot, [](Self& s, const Attribute& a) { s.communication().root = a.integer32(); }},
      {own::kSequence,
       [](Self& s, const Attribute& a) { s.communication().sequence = a.integer(0); }},
      {own::kStart, [](Self& s, const Attribute& a) { s.own().start_ns = a.integer(); }},
      {attribute::kStream, [](Self& s, const Attribute& a) { s.node_.stream = a.integer(); }},
      {attribute::kThread, [](Self& s, const Attribute& a) { s.node_.thread = a.integer(); }},
  };
  constexpr auto kByName = [](const Known& a, const Known& b) { return a.name < b.name; };
  static_assert(std::is_sorted(std::begin(kKnown), std::end(kKnown), kByName));
  const auto* known = std::lower_bound(std::begin(kKnown), std::end(kKnown),
                                       Known{attribute.name(), nullptr}, kByName);
  if (known != std::end(kKnown) && known->name == attribute.name()) {
    known->read(*this, attribute);
  }
}

/// Tools write the process groups of PyTorch as the first input of a METADATA node.
void NodeReader::read_inputs() {
  Field field;
  while (take_field(inputs_, field)) {
    if (field.number == io_field::kValues) {
      expect_wire(field, Wire::Bytes, "values");
      trace_.unreadable_groups += read_groups_of_input(field.bytes, trace_.groups) ? 0 : 1;
    }
  }
}

Communication& NodeReader::communication() {
  if (node_.communication == kNone) {
    node_.communication = static_cast<uint32_t>(trace_.communications.size());
    trace_.communications.emplace_back();
  }
  return trace_.communications[node_.communication];
}

OwnNode& NodeReader::own() {
  if (node_.own == kNone) {
    node_.own = static_cast<uint32_t>(trace_.own.size());
    trace_.own.emplace_back();
  }
  return trace_.own[node_.own];
}

}  // namespace prism::chakra
