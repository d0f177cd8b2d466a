// SPDX-License-Identifier: Apache-2.0
/// What a trace shows of a job: of each rank its nodes in their lanes, and when each ran. Waiting
/// is still in the spans; `calibrate` (calibrate.hpp) takes it out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/status.hpp"
#include "core/graph/program.hpp"

namespace prism::calibrate {

/// Of a communication: from its own arrival to its end.
struct Span {
  TimeNs start = 0;
  TimeNs end = 0;
};

struct ObservedRank {
  graph::Program program;  ///< its durations and gaps are 0
  std::vector<Span> nodes;
  std::vector<Span> parts;
  uint32_t clock = 0;  ///< ranks of one clock have times that can be compared
  /// Ranks of one run were real together. Between runs nobody waited for anybody: peers from
  /// outside a run were instant.
  uint32_t run = 0;
  std::string source;  ///< file, for messages
};

struct Observation {
  uint32_t world_size = 0;
  std::vector<ObservedRank> ranks;  ///< ascending
  std::vector<std::string> notes;   ///< what the user should know
};

/// A node to be added; the fields of graph::Node and graph::Labels.
struct ObservedNode {
  graph::Kind kind = graph::Kind::Compute;
  uint32_t lane = 0;
  Span span;
  uint32_t communicator = graph::kNone;
  int64_t sequence = -1;  ///< -1: the next of its communicator
  int32_t root = -1;
  uint8_t dtype = 0;
  uint8_t reduction = 0;
  uint64_t input_bytes = 0;
  uint64_t output_bytes = 0;
  std::vector<graph::Part> parts;  ///< durations are ignored
  std::vector<Span> part_spans;
  std::vector<uint32_t> dependencies;
  int32_t iteration = -1;  ///< -1: not known
  std::string_view name;
  std::string_view phase;
  int32_t micro_batch = -1;
  int32_t chunk = -1;
  int32_t layer = -1;
};

/// Takes what an importer tells, rank after rank, and refuses what cannot be: it is untrusted.
/// Errors name rank, source and node.
class ObservationBuilder {
 public:
  Status begin_rank(Rank rank, uint32_t clock, std::string source);
  Result<uint32_t> add_lane(graph::LaneKind kind, std::string name);
  Result<uint32_t> add_communicator(graph::Communicator communicator);
  Result<uint32_t> add_node(const ObservedNode& node);
  void note(std::string text) { observation_.notes.push_back(std::move(text)); }

  /// The world is as large as the largest rank or communicator member says. Errors: no rank, no
  /// work.
  Result<Observation> finish() &&;

 private:
  Status bad(const std::string& what) const;
  Status check(const ObservedNode& node) const;
  uint32_t text(std::string_view text);

  Observation observation_;
  std::unordered_map<Rank, size_t> place_of_;        ///< in observation_.ranks
  std::vector<uint64_t> next_sequence_;              ///< of the current rank, by communicator
  std::vector<TimeNs> lane_end_;                     ///< by lane
  std::unordered_map<std::string, uint32_t> texts_;  ///< of the current rank
};

/// Errors: ranks that are missing.
Status check_complete(const Observation& observation);

/// Where no node is of an iteration: those that the period of its communications shows
/// (period.hpp), else all of the trace becomes iteration 0; with a note.
void ensure_iterations(Observation& observation);

/// The iterations that a trace shows, and each of them as a trace of its own. The observation must
/// outlive it.
class Iterations {
 public:
  explicit Iterations(const Observation& observation);

  /// Ascending; nodes of none belong to no cut.
  const std::vector<uint32_t>& numbers() const { return numbers_; }
  bool has(uint32_t iteration) const;
  /// Its nodes, numbered anew as their structure says: a job that starts where it did. Dependencies
  /// on earlier iterations are left out: their ends come before its beginning.
  Observation cut(uint32_t iteration) const;
  /// All of it as one job: its iterations are numbered from 0, and a node of none belongs to that
  /// of the node before it.
  Observation whole() const;

 private:
  const Observation& observation_;
  std::vector<uint32_t> numbers_;
  /// By rank and place in `numbers_`: its nodes.
  std::vector<std::vector<std::vector<uint32_t>>> nodes_;
};

/// Drops the other ranks. Errors: one that was not observed.
Status keep_ranks(Observation& observation, const std::vector<Rank>& ranks);

/// Slices of one job as one observation: each keeps clocks of its own. Ranks of equal `run` in
/// several slices belong to one run. Errors: a rank in two slices, worlds of different size.
Result<Observation> unite(std::vector<Observation> slices);

}  // namespace prism::calibrate
