// SPDX-License-Identifier: Apache-2.0
#include "core/graph/file/program_codec.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

namespace prism::graph::file {
namespace {

// What an element takes in memory, together with what is needed while it is read.
constexpr uint64_t kLaneMemory = 80;
constexpr uint64_t kTextMemory = 48;
constexpr uint64_t kNodeMemory = sizeof(Node) + 40;
constexpr uint64_t kPartMemory = sizeof(Part) + 8;
constexpr uint64_t kDependencyMemory = 12;
constexpr uint64_t kLabelMemory = sizeof(Labels) + 8;
constexpr uint64_t kTimeMemory = 4;
constexpr uint64_t kLongMemory = 32;

/// The sequence number that a collective has when none is left out: one more than the one before
/// on its communicator. Others have 0.
class ExpectedSequence {
 public:
  uint64_t of(const Node& node) const {
    const auto found = next_.find(node.communicator);
    return is_collective(node.kind) && found != next_.end() ? found->second : 0;
  }
  void saw(const Node& node) {
    if (is_collective(node.kind)) {
      next_[node.communicator] = node.sequence + 1;
    }
  }

 private:
  std::unordered_map<uint32_t, uint64_t> next_;
};

/// What is stored of a node and no field of it is: sequence numbers as differences from the
/// expected ones, and how many nodes ago the one is that a transfer moves; 0: none.
struct Relative {
  std::vector<uint64_t> sequences;
  std::vector<uint64_t> moved;
};

Relative relative_of(const Program& program) {
  Relative relative;
  relative.sequences.reserve(program.nodes.size());
  relative.moved.reserve(program.nodes.size());
  ExpectedSequence expected;
  for (uint32_t id = 0; id < program.nodes.size(); ++id) {
    const Node& node = program.nodes[id];
    relative.sequences.push_back(node.sequence - expected.of(node));
    expected.saw(node);
    relative.moved.push_back(node.of == kNone ? 0 : id - node.of);
  }
  return relative;
}

template <typename Archive, typename Program>
void code_nodes(Archive& archive, Program& program, Relative& relative) {
  auto& nodes = program.nodes;
  archive.list("nodes", nodes, kNodeMemory);
  archive.column(
      "kinds", nodes, [](auto& n) -> auto& { return n.kind; });
  archive.column(
      "element types", nodes, [](auto& n) -> auto& { return n.dtype; });
  archive.column(
      "reductions", nodes, [](auto& n) -> auto& { return n.reduction; });
  archive.column(
      "lanes", nodes, [](auto& n) -> auto& { return n.lane; });
  archive.indices(
      "communicators", nodes, [](auto& n) -> auto& { return n.communicator; });
  relative.sequences.resize(nodes.size());
  archive.values("sequence numbers", relative.sequences, {});
  archive.column(
      "roots", nodes, [](auto& n) -> auto& { return n.root; });
  archive.column(
      "input bytes", nodes, [](auto& n) -> auto& { return n.input_bytes; });
  archive.column(
      "output bytes", nodes, [](auto& n) -> auto& { return n.output_bytes; });
  archive.column(
      "parts", nodes, [](auto& n) -> auto& { return n.part_count; });
  relative.moved.resize(nodes.size());
  archive.values("moved nodes", relative.moved, {});
  archive.column(
      "dependencies", nodes, [](auto& n) -> auto& { return n.dependency_count; });
  archive.indices(
      "iterations", nodes, [](auto& n) -> auto& { return n.iteration; });
}

template <typename Archive, typename Program>
void code_parts(Archive& archive, Program& program) {
  auto& parts = program.parts;
  archive.list("parts", parts, kPartMemory);
  archive.column(
      "kinds of parts", parts, [](auto& p) -> auto& { return p.kind; });
  archive.column(
      "peers", parts, [](auto& p) -> auto& { return p.peer; });
  archive.column(
      "tags", parts, [](auto& p) -> auto& { return p.tag; });
  archive.column(
      "communicators of parts", parts, [](auto& p) -> auto& { return p.communicator; });
  archive.column(
      "bytes of parts", parts, [](auto& p) -> auto& { return p.bytes; });
  archive.column(
      "element types of parts", parts, [](auto& p) -> auto& { return p.dtype; });
}

template <typename Archive, typename Program>
void code_labels(Archive& archive, Program& program) {
  auto& labels = program.labels;
  archive.list("labels", labels, kLabelMemory);
  archive.indices(
      "names", labels, [](auto& l) -> auto& { return l.name; });
  archive.indices(
      "phases", labels, [](auto& l) -> auto& { return l.phase; });
  archive.indices(
      "micro-batches", labels, [](auto& l) -> auto& { return l.micro_batch; });
  archive.indices(
      "chunks", labels, [](auto& l) -> auto& { return l.chunk; });
  archive.indices(
      "layers", labels, [](auto& l) -> auto& { return l.layer; });
}

/// `dependencies`: how many nodes ago each is, by node.
template <typename Archive, typename Program>
void code_structure(Archive& archive, Program& program, Relative& relative,
                    std::vector<uint64_t>& dependencies) {
  archive.number("iterations", program.iterations);
  archive.list("lanes", program.lanes, kLaneMemory);
  archive.column(
      "kinds of lanes", program.lanes, [](auto& l) -> auto& { return l.kind; });
  archive.texts(
      "names of lanes", program.lanes, [](auto& l) -> auto& { return l.name; });
  archive.list("texts", program.texts, kTextMemory);
  archive.texts(
      "texts", program.texts, [](auto& t) -> auto& { return t; });
  code_nodes(archive, program, relative);
  code_parts(archive, program);
  dependencies.resize(archive.count("dependencies", dependencies.size(), kDependencyMemory));
  archive.values("dependencies", dependencies, {});
  code_labels(archive, program);
}

/// From what was read to what the model has.
void resolve(Decoder& from, Program& program, const Relative& relative,
             const std::vector<uint64_t>& dependencies) {
  program.dependencies.reserve(dependencies.size());
  ExpectedSequence expected;
  uint64_t next_part = 0;
  for (uint32_t id = 0; id < program.nodes.size(); ++id) {
    Node& node = program.nodes[id];
    if (node.lane >= program.lanes.size()) {
      from.fail("node " + std::to_string(id) + " is on lane " + std::to_string(node.lane) + " of " +
                std::to_string(program.lanes.size()));
      return;
    }
    node.sequence = relative.sequences[id] + expected.of(node);
    expected.saw(node);
    if (relative.moved[id] > id) {
      from.fail("node " + std::to_string(id) + " moves the data of a node before the first");
      return;
    }
    node.of = relative.moved[id] == 0 ? kNone : id - static_cast<uint32_t>(relative.moved[id]);
    node.first_part = node.part_count == 0 ? 0 : static_cast<uint32_t>(next_part);
    next_part += node.part_count;
    node.first_dependency = static_cast<uint32_t>(program.dependencies.size());
    if (next_part > program.parts.size() ||
        node.dependency_count > dependencies.size() - program.dependencies.size()) {
      from.fail("node " + std::to_string(id) + " has more parts or dependencies than there are");
      return;
    }
    for (uint32_t d = 0; d < node.dependency_count; ++d) {
      const uint64_t back = dependencies[program.dependencies.size()];
      if (back == 0 || back > id) {
        from.fail("node " + std::to_string(id) + " depends on the node " + std::to_string(back) +
                  " places before it");
        return;
      }
      program.dependencies.push_back(id - static_cast<uint32_t>(back));
    }
  }
  if (next_part != program.parts.size() || program.dependencies.size() != dependencies.size()) {
    from.fail("there are parts or dependencies of no node");
  }
  for (const Lane& lane : program.lanes) {
    if (lane.kind > LaneKind::Comm) {
      from.fail("lane '" + lane.name + "' has an unknown kind");
    }
  }
}

/// A column of times: its length, 0 where the program's hold, and the times.
std::vector<uint64_t> numbers_of(const Column& column) {
  std::vector<uint64_t> numbers(column.values().begin(), column.values().end());
  for (const auto& [index, value] : column.longs()) {
    numbers[index] = static_cast<uint64_t>(value);
  }
  return numbers;
}

void encode_times_column(Encoder& to, const char* name, const Column& column,
                         const std::vector<uint64_t>& reference) {
  to.count(name, column.size(), kTimeMemory);
  to.count("long times", column.longs().size(), kLongMemory);
  const bool refers = reference.size() == column.size();
  to.values(name, numbers_of(column), refers ? reference : std::vector<uint64_t>());
}

void decode_times_column(Decoder& from, const char* name, Column& column,
                         const std::vector<uint64_t>& reference, std::vector<uint64_t>& numbers) {
  numbers.resize(from.count(name, 0, kTimeMemory));
  const size_t long_count = from.count("long times", 0, kLongMemory);
  from.values(name, numbers, reference);
  if (!from.ok()) {
    return;
  }
  std::vector<uint32_t> values(numbers.size());
  uint64_t all = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    values[i] = static_cast<uint32_t>(numbers[i]);
    all = std::max(all, numbers[i]);
  }
  std::vector<Column::Long> longs;
  if (all >= Column::kLong) {
    longs.reserve(long_count);
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] >= Column::kLong) {
        if (numbers[i] > uint64_t{std::numeric_limits<DurationNs>::max()} ||
            longs.size() == long_count) {
          from.fail(std::string(name) + ": a negative time, or more long ones than announced");
          return;
        }
        values[i] = Column::kLong;
        longs.emplace_back(static_cast<uint32_t>(i), static_cast<DurationNs>(numbers[i]));
      }
    }
  }
  if (longs.size() != long_count) {
    from.fail(std::string(name) + ": " + std::to_string(longs.size()) + " long times, expected " +
              std::to_string(long_count));
    return;
  }
  column = Column(std::move(values), std::move(longs));
}

template <typename T>
std::vector<uint64_t> durations_of(const std::vector<T>& elements, DurationNs T::*field) {
  std::vector<uint64_t> numbers;
  numbers.reserve(elements.size());
  for (const T& element : elements) {
    numbers.push_back(static_cast<uint64_t>(element.*field));
  }
  return numbers;
}

template <typename T>
void read_durations(Decoder& from, const char* name, std::vector<T>& elements,
                    DurationNs T::*field) {
  std::vector<uint64_t> numbers(elements.size());
  from.values(name, numbers, {});
  for (size_t i = 0; i < elements.size() && from.ok(); ++i) {
    elements[i].*field = static_cast<DurationNs>(numbers[i]);
  }
}

}  // namespace

Status check_order(const Program& program) {
  const auto bad = [&](const std::string& what) {
    return run_error("the program of rank " + std::to_string(program.rank) + " " + what,
                     Code::FailedPrecondition);
  };
  uint64_t parts = 0;
  uint64_t dependencies = 0;
  for (uint32_t id = 0; id < program.nodes.size(); ++id) {
    const Node& node = program.nodes[id];
    if ((node.part_count != 0 && node.first_part != parts) ||
        (node.dependency_count != 0 && node.first_dependency != dependencies)) {
      return bad("has the parts or dependencies of node " + std::to_string(id) +
                 " out of the order of its nodes");
    }
    parts += node.part_count;
    dependencies += node.dependency_count;
  }
  if (parts != program.parts.size() || dependencies != program.dependencies.size()) {
    return bad("has parts or dependencies of no node");
  }
  return check_labels(program, "the program of rank " + std::to_string(program.rank));
}

Status check_labels(const Program& program, const std::string& where) {
  if (!program.labels.empty() && program.labels.size() != program.nodes.size()) {
    return run_error(where + ": has " + std::to_string(program.labels.size()) + " labels of " +
                         std::to_string(program.nodes.size()) + " nodes",
                     Code::DataLoss);
  }
  const auto known = [&](uint32_t text) { return text == kNone || text < program.texts.size(); };
  for (size_t id = 0; id < program.labels.size(); ++id) {
    if (!known(program.labels[id].name) || !known(program.labels[id].phase)) {
      return run_error(where + ": node " + std::to_string(id) + " has a label that is no text",
                       Code::DataLoss);
    }
  }
  return {};
}

void encode_structure(Encoder& to, const Program& program) {
  Relative relative = relative_of(program);
  std::vector<uint64_t> dependencies;
  dependencies.reserve(program.dependencies.size());
  for (uint32_t id = 0; id < program.nodes.size(); ++id) {
    for (uint32_t d = 0; d < program.nodes[id].dependency_count; ++d) {
      dependencies.push_back(id - program.dependencies[dependencies.size()]);
    }
  }
  code_structure(to, program, relative, dependencies);
}

void decode_structure(Decoder& from, Program& program) {
  Relative relative;
  std::vector<uint64_t> dependencies;
  code_structure(from, program, relative, dependencies);
  if (from.ok()) {
    resolve(from, program, relative, dependencies);
  }
}

void encode_communicators(Encoder& to, const Program& program) {
  code_communicators(to, program.communicators);
  code_communicators(to, program.others);
}

void decode_communicators(Decoder& from, Program& program) {
  code_communicators(from, program.communicators);
  code_communicators(from, program.others);
}

void encode_own_times(Encoder& to, const Program& program) {
  to.number("nodes", uint64_t{program.nodes.size()});
  to.number("parts", uint64_t{program.parts.size()});
  to.values("durations", durations_of(program.nodes, &Node::duration), {});
  to.values("gaps", durations_of(program.nodes, &Node::gap), {});
  to.values("durations of parts", durations_of(program.parts, &Part::duration), {});
}

void decode_own_times(Decoder& from, Program& program) {
  uint64_t nodes = 0;
  uint64_t parts = 0;
  from.number("nodes", nodes);
  from.number("parts", parts);
  if (from.ok() && (nodes != program.nodes.size() || parts != program.parts.size())) {
    from.fail("times of " + std::to_string(nodes) + " nodes and " + std::to_string(parts) +
              " parts, expected " + std::to_string(program.nodes.size()) + " and " +
              std::to_string(program.parts.size()));
    return;
  }
  read_durations(from, "durations", program.nodes, &Node::duration);
  read_durations(from, "gaps", program.nodes, &Node::gap);
  read_durations(from, "durations of parts", program.parts, &Part::duration);
}

TimesReference reference_of(const RankTimes& times) {
  return {numbers_of(times.durations), numbers_of(times.gaps), numbers_of(times.parts)};
}

void encode_times(Encoder& to, const RankTimes& times, const TimesReference& reference) {
  encode_times_column(to, "durations", times.durations, reference.durations);
  encode_times_column(to, "gaps", times.gaps, reference.gaps);
  encode_times_column(to, "durations of parts", times.parts, reference.parts);
}

void decode_times(Decoder& from, RankTimes& times, const TimesReference& reference) {
  std::vector<uint64_t> numbers;
  decode_times_column(from, "durations", times.durations, reference.durations, numbers);
  decode_times_column(from, "gaps", times.gaps, reference.gaps, numbers);
  decode_times_column(from, "durations of parts", times.parts, reference.parts, numbers);
}

}  // namespace prism::graph::file
