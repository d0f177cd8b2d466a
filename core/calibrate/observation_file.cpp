// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/observation_file.hpp"

#include <utility>

#include "core/calibrate/observation_check.hpp"
#include "core/graph/file/contents_codec.hpp"
#include "core/graph/file/program_codec.hpp"
#include "core/graph/file/program_sections.hpp"
#include "core/graph/file/section_file.hpp"
#include "core/graph/file/section_writer.hpp"

namespace prism::calibrate {
namespace {

using graph::file::Decoder;
using graph::file::Encoder;
using graph::file::MemoryBudget;
using graph::file::SectionFile;
using graph::file::SectionType;
using graph::file::SectionWriter;

constexpr uint64_t kRankMemory = 1024;
constexpr uint64_t kSpanMemory = sizeof(Span) + 24;

/// What the section `observation` says of a rank.
struct RankHead {
  Rank rank = 0;
  uint32_t clock = 0;
  uint32_t run = 0;
  std::string source;
  uint32_t structure = 0;  ///< numbers of sections
  uint32_t communicators = 0;
};

struct Head {
  uint32_t world_size = 0;
  std::vector<std::string> notes;
  std::vector<RankHead> ranks;
};

template <typename Archive, typename Its>
void code_head(Archive& archive, Its& head) {
  archive.number("world size", head.world_size);
  graph::file::code_texts(archive, "notes", head.notes);
  auto& ranks = head.ranks;
  archive.list("ranks", ranks, kRankMemory);
  archive.column(
      "ranks", ranks, [](auto& r) -> auto& { return r.rank; });
  archive.column(
      "clocks", ranks, [](auto& r) -> auto& { return r.clock; });
  archive.column(
      "runs", ranks, [](auto& r) -> auto& { return r.run; });
  archive.texts(
      "sources", ranks, [](auto& r) -> auto& { return r.source; });
  archive.column(
      "structures", ranks, [](auto& r) -> auto& { return r.structure; });
  archive.column(
      "communicators", ranks, [](auto& r) -> auto& { return r.communicators; });
}

/// Starts of nodes are stored from the end before on their lane, of parts from the start of their
/// node: what is left is small.
class SpanBases {
 public:
  explicit SpanBases(const graph::Program& program)
      : program_(program), lane_end_(program.lanes.size(), 0) {}

  TimeNs of_node(size_t node) const { return lane_end_[program_.nodes[node].lane]; }
  void saw_node(size_t node, TimeNs end) { lane_end_[program_.nodes[node].lane] = end; }

 private:
  const graph::Program& program_;
  std::vector<TimeNs> lane_end_;
};

// Arithmetic of 64 bits that wraps: any number may be in a file.
uint64_t difference(TimeNs a, TimeNs b) {
  return static_cast<uint64_t>(a) - static_cast<uint64_t>(b);
}
TimeNs sum(TimeNs a, uint64_t b) {
  return static_cast<TimeNs>(static_cast<uint64_t>(a) + b);
}

/// Starts relative to bases, zigzagged, and lengths.
struct SpanNumbers {
  std::vector<uint64_t> starts;
  std::vector<uint64_t> lengths;
  void add(const Span& span, TimeNs base) {
    starts.push_back(graph::file::zigzag(difference(span.start, base)));
    lengths.push_back(difference(span.end, span.start));
  }
  Span at(size_t index, TimeNs base) const {
    const TimeNs start = sum(base, graph::file::unzigzag(starts[index]));
    return {start, sum(start, lengths[index])};
  }
};

template <typename Archive>
void code_spans(Archive& archive, const char* name, SpanNumbers& numbers) {
  const size_t size = archive.count(name, numbers.starts.size(), kSpanMemory);
  numbers.starts.resize(size);
  numbers.lengths.resize(size);
  archive.values(name, numbers.starts, {});
  archive.values(name, numbers.lengths, {});
}

template <typename Visit>
void for_each_part(const graph::Program& program, Visit visit) {
  for (size_t node = 0; node < program.nodes.size(); ++node) {
    const graph::Node& its = program.nodes[node];
    for (size_t p = its.first_part; p < size_t{its.first_part} + its.part_count; ++p) {
      visit(node, p);
    }
  }
}

void encode_spans(Encoder& to, const ObservedRank& rank) {
  SpanNumbers nodes;
  SpanBases bases(rank.program);
  for (size_t node = 0; node < rank.nodes.size(); ++node) {
    nodes.add(rank.nodes[node], bases.of_node(node));
    bases.saw_node(node, rank.nodes[node].end);
  }
  SpanNumbers parts;
  for_each_part(rank.program, [&](size_t node, size_t part) {
    parts.add(rank.parts[part], rank.nodes[node].start);
  });
  code_spans(to, "spans of nodes", nodes);
  code_spans(to, "spans of parts", parts);
}

void decode_spans(Decoder& from, ObservedRank& rank) {
  SpanNumbers nodes;
  SpanNumbers parts;
  code_spans(from, "spans of nodes", nodes);
  code_spans(from, "spans of parts", parts);
  if (from.ok() && (nodes.starts.size() != rank.program.nodes.size() ||
                    parts.starts.size() != rank.program.parts.size())) {
    from.fail(std::to_string(nodes.starts.size()) + " spans of nodes and " +
              std::to_string(parts.starts.size()) + " of parts, expected " +
              std::to_string(rank.program.nodes.size()) + " and " +
              std::to_string(rank.program.parts.size()));
  }
  if (!from.ok()) {
    return;
  }
  rank.nodes.reserve(nodes.starts.size());
  SpanBases bases(rank.program);
  for (size_t node = 0; node < nodes.starts.size(); ++node) {
    rank.nodes.push_back(nodes.at(node, bases.of_node(node)));
    bases.saw_node(node, rank.nodes.back().end);
  }
  rank.parts.resize(parts.starts.size());
  for_each_part(rank.program, [&](size_t node, size_t part) {
    rank.parts[part] = parts.at(part, rank.nodes[node].start);
  });
}

Status write_sections(SectionWriter& writer, const Observation& observation) {
  writer.begin(graph::file::kContentObservation);
  graph::file::ProgramWriter programs(writer);
  Head head{observation.world_size, observation.notes, {}};
  head.ranks.reserve(observation.ranks.size());
  for (uint32_t place = 0; place < observation.ranks.size(); ++place) {
    const ObservedRank& rank = observation.ranks[place];
    RankHead& its = head.ranks.emplace_back();
    its.rank = rank.program.rank;
    its.clock = rank.clock;
    its.run = rank.run;
    its.source = rank.source;
    PRISM_TRY_ASSIGN(its.structure, programs.structure(rank.program));
    PRISM_TRY_ASSIGN(its.communicators, programs.communicators(rank.program));
    Encoder spans;
    encode_spans(spans, rank);
    PRISM_TRY(writer.add({SectionType::Spans, place, 0, 0}, spans));
  }
  Encoder content;
  code_head(content, head);
  PRISM_TRY(writer.add({SectionType::Observation, 0, 0, 0}, content));
  return writer.finish();
}

}  // namespace

Status write_observation(const std::string& path, const Observation& observation,
                         graph::Storage storage) {
  PRISM_TRY(check_observation(observation, "the observation that is to be written"));
  for (const ObservedRank& rank : observation.ranks) {
    PRISM_TRY(graph::file::check_order(rank.program));
  }
  return graph::file::replace_with_sections(
      path, storage, [&](SectionWriter& writer) { return write_sections(writer, observation); });
}

Result<Observation> read_observation(const std::string& path) {
  PRISM_TRY_ASSIGN(SectionFile file, SectionFile::open(path, graph::file::kContentObservation));
  MemoryBudget budget = file.budget();
  Head head;
  PRISM_TRY(file.read({SectionType::Observation, 0, 0, 0}, budget,
                      [&](Decoder& from) { code_head(from, head); }));
  Observation observation;
  observation.world_size = head.world_size;
  observation.notes = std::move(head.notes);
  if (!file.recovery().empty()) {
    observation.notes.push_back(file.recovery());
  }
  observation.ranks.resize(head.ranks.size());  // programs stay where they are
  graph::file::ProgramReader programs(file, budget);
  for (uint32_t place = 0; place < head.ranks.size(); ++place) {
    RankHead& from = head.ranks[place];
    ObservedRank& rank = observation.ranks[place];
    rank.program.rank = from.rank;
    rank.program.world_size = head.world_size;
    rank.clock = from.clock;
    rank.run = from.run;
    rank.source = std::move(from.source);
    PRISM_TRY(programs.structure(from.structure, rank.program));
    PRISM_TRY(programs.communicators(from.communicators, rank.program));
    PRISM_TRY(file.read({SectionType::Spans, place, 0, 0}, budget,
                        [&](Decoder& decoder) { decode_spans(decoder, rank); }));
  }
  PRISM_TRY(check_observation(observation, "'" + path + "'"));
  return observation;
}

}  // namespace prism::calibrate
