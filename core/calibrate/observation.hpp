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

  /// Errors: no rank, ranks that are missing (the world is as large as the largest rank or
  /// communicator member says), a program that is not well-formed.
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

/// Iterations that a trace shows, by number; nodes of none belong to no cut.
std::vector<uint32_t> iterations_of(const Observation& observation);

/// Where no node is of an iteration: all of the trace becomes iteration 0, with a note.
void ensure_iterations(Observation& observation);

/// The nodes of one iteration, numbered anew: a job that starts where it did. Dependencies on
/// earlier iterations are left out: their ends come before its beginning.
Observation cut(const Observation& observation, uint32_t iteration);

}  // namespace prism::calibrate
