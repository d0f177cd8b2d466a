// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/observation.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "core/calibrate/observation_limits.hpp"
#include "core/calibrate/period.hpp"
#include "core/calibrate/structure_order.hpp"

namespace prism::calibrate {
namespace {

constexpr uint32_t kNoIteration = graph::kNone;
constexpr uint32_t kMostIterations = 1U << 24U;

/// Largest number of nodes of a rank that a file may claim.
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

/// The nodes `ids` of a rank as a program of one iteration, in the order of structure_order.
ObservedRank cut_rank(const ObservedRank& rank, const std::vector<uint32_t>& ids) {
  const std::vector<uint32_t> order = structure_order(rank.program, ids);
  ObservedRank to;
  to.clock = rank.clock;
  to.run = rank.run;
  to.source = rank.source;
  to.program = selected(rank.program, order);
  to.program.iterations = 1;
  to.nodes.reserve(order.size());
  for (const uint32_t id : order) {
    to.nodes.push_back(rank.nodes[id]);
    const auto part = rank.parts.begin() + rank.program.nodes[id].first_part;
    to.parts.insert(to.parts.end(), part, part + rank.program.nodes[id].part_count);
  }
  for (graph::Node& node : to.program.nodes) {
    node.iteration = 0;
  }
  renumber(to.program);
  return to;
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
    return run_error(source + ": rank " + std::to_string(rank) + " cannot be right; the most is " +
                         std::to_string(kMostRanks - 1),
                     Code::InvalidArgument);
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

Status check_complete(const Observation& observation) {
  const size_t count = observation.world_size - observation.ranks.size();
  if (count == 0) {
    return {};
  }
  std::string missing;
  Rank next = 0;
  size_t named = 0;
  constexpr size_t kMostNamed = 8;
  const auto name_before = [&](Rank end) {
    for (; next < end && named < kMostNamed; ++next, ++named) {
      missing += " " + std::to_string(next);
    }
    next = end + 1;
  };
  for (const ObservedRank& rank : observation.ranks) {
    name_before(rank.program.rank);
  }
  name_before(observation.world_size);
  const size_t shown = observation.ranks.size();
  return run_error("the trace shows " + std::to_string(shown) + (shown == 1 ? " rank" : " ranks") +
                       " of a world of " + std::to_string(observation.world_size) + "; missing " +
                       (count == 1 ? "is" : "are") + missing + (count > named ? " ..." : "") +
                       "; give the files of all ranks, or to `prism calibrate` a --graph",
                   Code::InvalidArgument);
}

void ensure_iterations(Observation& observation) {
  if (!Iterations(observation).numbers().empty()) {
    return;
  }
  const uint32_t iterations = number_iterations_by_period(observation);
  if (iterations > 1) {
    observation.notes.push_back(
        "the trace does not say where iterations begin: its communications are the same " +
        std::to_string(iterations) + " times over");
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

Iterations::Iterations(const Observation& observation) : observation_(observation) {
  std::set<uint32_t> found;
  for (const ObservedRank& rank : observation.ranks) {
    for (const graph::Node& node : rank.program.nodes) {
      if (node.iteration != kNoIteration && (found.empty() || *found.rbegin() != node.iteration)) {
        found.insert(node.iteration);
      }
    }
  }
  numbers_.assign(found.begin(), found.end());
  nodes_.resize(observation.ranks.size());
  for (size_t r = 0; r < observation.ranks.size(); ++r) {
    nodes_[r].resize(numbers_.size());
    const std::vector<graph::Node>& nodes = observation.ranks[r].program.nodes;
    for (uint32_t id = 0; id < nodes.size(); ++id) {
      if (nodes[id].iteration != kNoIteration) {
        const auto place = std::lower_bound(numbers_.begin(), numbers_.end(), nodes[id].iteration);
        nodes_[r][static_cast<size_t>(place - numbers_.begin())].push_back(id);
      }
    }
  }
}

bool Iterations::has(uint32_t iteration) const {
  return std::binary_search(numbers_.begin(), numbers_.end(), iteration);
}

Observation Iterations::cut(uint32_t iteration) const {
  PRISM_ASSERT(has(iteration));
  const auto place = static_cast<size_t>(
      std::lower_bound(numbers_.begin(), numbers_.end(), iteration) - numbers_.begin());
  Observation result;
  result.world_size = observation_.world_size;
  result.ranks.reserve(observation_.ranks.size());
  for (size_t r = 0; r < observation_.ranks.size(); ++r) {
    result.ranks.push_back(cut_rank(observation_.ranks[r], nodes_[r][place]));
  }
  return result;
}

Observation Iterations::whole() const {
  Observation result = observation_;
  for (ObservedRank& rank : result.ranks) {
    uint32_t current = 0;
    for (graph::Node& node : rank.program.nodes) {
      if (node.iteration != kNoIteration) {
        const auto place = std::lower_bound(numbers_.begin(), numbers_.end(), node.iteration);
        current = static_cast<uint32_t>(place - numbers_.begin());
      }
      node.iteration = current;
    }
    if (!numbers_.empty() && numbers_.back() + 1 != numbers_.size()) {
      rank.program.iterations = static_cast<uint32_t>(numbers_.size());
    }
    renumber(rank.program);
  }
  return result;
}

Status keep_ranks(Observation& observation, const std::vector<Rank>& ranks) {
  std::vector<ObservedRank> kept;
  kept.reserve(ranks.size());
  for (const Rank rank : std::set<Rank>(ranks.begin(), ranks.end())) {
    const auto found = std::find_if(
        observation.ranks.begin(), observation.ranks.end(),
        [rank](const ObservedRank& observed) { return observed.program.rank == rank; });
    if (found == observation.ranks.end()) {
      return run_error("rank " + std::to_string(rank) + " was not observed", Code::InvalidArgument);
    }
    kept.push_back(std::move(*found));
  }
  observation.ranks = std::move(kept);
  return {};
}

Result<Observation> unite(std::vector<Observation> slices) {
  PRISM_ASSERT(!slices.empty());
  Observation result = std::move(slices.front());
  uint32_t clocks = 0;
  const auto next_clock = [&clocks](const Observation& slice) {
    for (const ObservedRank& rank : slice.ranks) {
      clocks = std::max(clocks, rank.clock + 1);
    }
  };
  next_clock(result);
  for (size_t s = 1; s < slices.size(); ++s) {
    Observation& slice = slices[s];
    if (slice.world_size != result.world_size) {
      return run_error("a slice is of a world of " + std::to_string(slice.world_size) +
                           " ranks, another of one of " + std::to_string(result.world_size),
                       Code::InvalidArgument);
    }
    const uint32_t first_clock = clocks;
    for (ObservedRank& rank : slice.ranks) {
      rank.clock += first_clock;
    }
    next_clock(slice);
    std::move(slice.ranks.begin(), slice.ranks.end(), std::back_inserter(result.ranks));
    for (std::string& note : slice.notes) {
      if (std::find(result.notes.begin(), result.notes.end(), note) == result.notes.end()) {
        result.notes.push_back(std::move(note));
      }
    }
  }
  std::sort(result.ranks.begin(), result.ranks.end(),
            [](const auto& a, const auto& b) { return a.program.rank < b.program.rank; });
  const auto twice = std::adjacent_find(
      result.ranks.begin(), result.ranks.end(),
      [](const auto& a, const auto& b) { return a.program.rank == b.program.rank; });
  if (twice != result.ranks.end()) {
    return run_error("rank " + std::to_string(twice->program.rank) + " is in two slices, of " +
                         twice->source + " and of " + std::next(twice)->source,
                     Code::InvalidArgument);
  }
  return result;
}

}  // namespace prism::calibrate
