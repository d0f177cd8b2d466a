// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/observation.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "core/calibrate/observation_limits.hpp"

namespace prism::calibrate {
namespace {

constexpr uint32_t kNoIteration = graph::kNone;
constexpr uint32_t kMostIterations = 1U << 24U;

/// Largest world and number of nodes of a rank that a file may claim.
constexpr Rank kMostRanks = 1U << 20U;
constexpr size_t kMostNodes = 1U << 30U;

/// Numbers the collectives of each communicator from 0.
void renumber(graph::Program& program) {
  std::vector<uint64_t> next(program.communicators.size(), 0);
  for (graph::Node& node : program.nodes) {
    if (graph::is_collective(node.kind)) {
      node.sequence = next[node.communicator]++;
    }
  }
}

}  // namespace

Status ObservationBuilder::bad(const std::string& what) const {
  std::string where;
  if (!observation_.ranks.empty()) {
    const ObservedRank& rank = observation_.ranks.back();
    where = rank.source + ", rank " + std::to_string(rank.program.rank) + ", node " +
            std::to_string(rank.program.nodes.size()) + ": ";
  }
  return run_error(where + what, Code::InvalidArgument);
}

Status ObservationBuilder::begin_rank(Rank rank, uint32_t clock, std::string source) {
  if (rank >= kMostRanks) {
    return bad("rank " + std::to_string(rank) + " cannot be right; the most is " +
               std::to_string(kMostRanks - 1));
  }
  const auto [known, fresh] = place_of_.try_emplace(rank, observation_.ranks.size());
  if (!fresh) {
    return run_error("rank " + std::to_string(rank) + " is in " +
                         observation_.ranks[known->second].source + " and in " + source +
                         "; say which rank each file is of",
                     Code::InvalidArgument);
  }
  ObservedRank& added = observation_.ranks.emplace_back();
  added.program.rank = rank;
  added.clock = clock;
  added.source = std::move(source);
  observation_.world_size = std::max(observation_.world_size, rank + 1);
  next_sequence_.clear();
  lane_end_.clear();
  texts_.clear();
  return {};
}

Result<uint32_t> ObservationBuilder::add_lane(graph::LaneKind kind, std::string name) {
  if (observation_.ranks.empty()) {
    return bad("a lane before the first rank");
  }
  std::vector<graph::Lane>& lanes = observation_.ranks.back().program.lanes;
  lanes.push_back({kind, std::move(name)});
  lane_end_.push_back(std::numeric_limits<TimeNs>::min());
  return static_cast<uint32_t>(lanes.size() - 1);
}

Result<uint32_t> ObservationBuilder::add_communicator(graph::Communicator communicator) {
  if (observation_.ranks.empty()) {
    return bad("a communicator before the first rank");
  }
  for (const Rank rank : communicator.ranks) {
    if (rank >= kMostRanks) {
      return bad("communicator '" + communicator.name + "' has the rank " + std::to_string(rank));
    }
    observation_.world_size = std::max(observation_.world_size, rank + 1);
  }
  graph::Program& program = observation_.ranks.back().program;
  communicator.nth = graph::count_alike(program, communicator);
  communicator.creation = static_cast<uint32_t>(program.communicators.size());
  program.communicators.push_back(std::move(communicator));
  next_sequence_.push_back(0);
  return static_cast<uint32_t>(program.communicators.size() - 1);
}

uint32_t ObservationBuilder::text(std::string_view text) {
  if (text.empty()) {
    return graph::kNone;
  }
  std::vector<std::string>& texts = observation_.ranks.back().program.texts;
  const auto [entry, added] =
      texts_.try_emplace(std::string(text), static_cast<uint32_t>(texts.size()));
  if (added) {
    texts.push_back(entry->first);
  }
  return entry->second;
}

Status ObservationBuilder::check(const ObservedNode& node) const {
  if (observation_.ranks.empty()) {
    return bad("a node before the first rank");
  }
  const graph::Program& program = observation_.ranks.back().program;
  if (program.nodes.size() >= kMostNodes) {
    return bad("there are more nodes than a rank may have");
  }
  if (node.lane >= program.lanes.size()) {
    return bad("it is on lane " + std::to_string(node.lane) + " of " +
               std::to_string(program.lanes.size()));
  }
  if (is_far(node.span) || std::any_of(node.part_spans.begin(), node.part_spans.end(), is_far)) {
    return bad("its time cannot be right: more than 120 years away");
  }
  if (node.span.end < node.span.start) {
    return bad("it ends before it starts");
  }
  if (node.span.start < lane_end_[node.lane]) {
    return bad("it starts before the node before it on lane '" + program.lanes[node.lane].name +
               "' has ended");
  }
  if (graph::is_collective(node.kind) && node.communicator >= program.communicators.size()) {
    return bad("it is a collective without a communicator");
  }
  if (graph::has_parts(node.kind) &&
      (node.parts.empty() || node.parts.size() != node.part_spans.size())) {
    return bad("it is a message without parts");
  }
  for (const uint32_t dependency : node.dependencies) {
    if (dependency >= program.nodes.size()) {
      return bad("it depends on node " + std::to_string(dependency) + ", which is not there yet");
    }
  }
  if (node.iteration >= static_cast<int32_t>(kMostIterations)) {
    return bad("iteration " + std::to_string(node.iteration) + " cannot be right");
  }
  return {};
}

Result<uint32_t> ObservationBuilder::add_node(const ObservedNode& node) {
  PRISM_TRY(check(node));
  ObservedRank& rank = observation_.ranks.back();
  graph::Program& program = rank.program;
  graph::Node added;
  added.kind = node.kind;
  added.dtype = node.dtype;
  added.reduction = node.reduction;
  added.lane = node.lane;
  added.root = node.root;
  added.input_bytes = node.input_bytes;
  added.output_bytes = node.output_bytes;
  added.iteration = node.iteration < 0 ? kNoIteration : static_cast<uint32_t>(node.iteration);
  if (graph::is_collective(node.kind)) {
    added.communicator = node.communicator;
    added.sequence = next_sequence_[node.communicator];
    if (node.sequence >= 0 && static_cast<uint64_t>(node.sequence) < added.sequence) {
      return bad("it has sequence number " + std::to_string(node.sequence) + " after " +
                 std::to_string(added.sequence - 1));
    }
    added.sequence = node.sequence < 0 ? added.sequence : static_cast<uint64_t>(node.sequence);
    next_sequence_[node.communicator] = added.sequence + 1;
  }
  if (graph::has_parts(node.kind)) {
    added.first_part = static_cast<uint32_t>(program.parts.size());
    added.part_count = static_cast<uint32_t>(node.parts.size());
    for (const graph::Part& part : node.parts) {
      (part.kind == graph::Kind::Send ? added.input_bytes : added.output_bytes) += part.bytes;
    }
    program.parts.insert(program.parts.end(), node.parts.begin(), node.parts.end());
    rank.parts.insert(rank.parts.end(), node.part_spans.begin(), node.part_spans.end());
  }
  added.first_dependency = static_cast<uint32_t>(program.dependencies.size());
  added.dependency_count = static_cast<uint32_t>(node.dependencies.size());
  program.dependencies.insert(program.dependencies.end(), node.dependencies.begin(),
                              node.dependencies.end());
  program.labels.push_back(
      {text(node.name), text(node.phase), node.micro_batch, node.chunk, node.layer});
  lane_end_[node.lane] = node.span.end;
  rank.nodes.push_back(node.span);
  program.nodes.push_back(added);
  return static_cast<uint32_t>(program.nodes.size() - 1);
}

Result<Observation> ObservationBuilder::finish() && {
  if (observation_.ranks.empty()) {
    return run_error("the trace has no rank", Code::InvalidArgument);
  }
  if (std::all_of(observation_.ranks.begin(), observation_.ranks.end(),
                  [](const ObservedRank& rank) { return rank.nodes.empty(); })) {
    return run_error("the trace shows no work of any rank", Code::InvalidArgument);
  }
  std::sort(observation_.ranks.begin(), observation_.ranks.end(),
            [](const auto& a, const auto& b) { return a.program.rank < b.program.rank; });
  std::string missing;
  Rank next = 0;
  size_t count = 0;
  for (const ObservedRank& rank : observation_.ranks) {
    for (; next < rank.program.rank; ++next) {
      missing += count++ < 8 ? " " + std::to_string(next) : "";
    }
    ++next;
  }
  for (; next < observation_.world_size; ++next) {
    missing += count++ < 8 ? " " + std::to_string(next) : "";
  }
  if (count > 0) {
    return run_error("the trace shows " + std::to_string(observation_.ranks.size()) +
                         " ranks of a world of " + std::to_string(observation_.world_size) +
                         "; missing are" + missing + (count > 8 ? " ..." : "") +
                         "; give the files of all ranks",
                     Code::InvalidArgument);
  }
  for (ObservedRank& rank : observation_.ranks) {
    graph::Program& program = rank.program;
    program.world_size = observation_.world_size;
    for (const graph::Node& node : program.nodes) {
      if (node.iteration != kNoIteration) {
        program.iterations = std::max(program.iterations, node.iteration + 1);
      }
    }
  }
  return std::move(observation_);
}

std::vector<uint32_t> iterations_of(const Observation& observation) {
  std::set<uint32_t> found;
  for (const ObservedRank& rank : observation.ranks) {
    for (const graph::Node& node : rank.program.nodes) {
      if (node.iteration != kNoIteration) {
        found.insert(node.iteration);
      }
    }
  }
  return {found.begin(), found.end()};
}

void ensure_iterations(Observation& observation) {
  if (!iterations_of(observation).empty()) {
    return;
  }
  for (ObservedRank& rank : observation.ranks) {
    rank.program.iterations = 1;
    for (graph::Node& node : rank.program.nodes) {
      node.iteration = 0;
    }
  }
  observation.notes.emplace_back(
      "the trace does not say where iterations begin: all of it counts as one");
}

Observation cut(const Observation& observation, uint32_t iteration) {
  Observation result;
  result.world_size = observation.world_size;
  for (const ObservedRank& rank : observation.ranks) {
    const graph::Program& from = rank.program;
    ObservedRank& to = result.ranks.emplace_back();
    to.clock = rank.clock;
    to.source = rank.source;
    graph::Program& program = to.program;
    program.rank = from.rank;
    program.world_size = from.world_size;
    program.iterations = 1;
    program.lanes = from.lanes;
    program.communicators = from.communicators;
    program.others = from.others;
    program.texts = from.texts;
    std::vector<uint32_t> number(from.nodes.size(), graph::kNone);
    for (uint32_t id = 0; id < from.nodes.size(); ++id) {
      graph::Node node = from.nodes[id];
      if (node.iteration != iteration) {
        continue;
      }
      number[id] = static_cast<uint32_t>(program.nodes.size());
      const auto first_dependency = static_cast<uint32_t>(program.dependencies.size());
      for (uint32_t d = 0; d < node.dependency_count; ++d) {
        const uint32_t dependency = number[from.dependencies[node.first_dependency + d]];
        if (dependency != graph::kNone) {
          program.dependencies.push_back(dependency);
        }
      }
      node.first_dependency = first_dependency;
      node.dependency_count = static_cast<uint32_t>(program.dependencies.size()) - first_dependency;
      const auto first_part = static_cast<uint32_t>(program.parts.size());
      for (uint32_t p = node.first_part; p < node.first_part + node.part_count; ++p) {
        program.parts.push_back(from.parts[p]);
        to.parts.push_back(rank.parts[p]);
      }
      node.first_part = first_part;
      node.iteration = 0;
      to.nodes.push_back(rank.nodes[id]);
      program.labels.push_back(from.labels[id]);
      program.nodes.push_back(node);
    }
    renumber(program);
  }
  return result;
}

}  // namespace prism::calibrate
