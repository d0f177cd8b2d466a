// SPDX-License-Identifier: Apache-2.0
/// The job that a trace shows: nodes of every rank with their lanes, groups and dependencies.
///
/// The parts of making it, in this order: nodes (batches, times, lanes), labels (micro-batch and
/// peer of messages), groups (who takes part, checked to be complete), dependencies, arrivals.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "operations.hpp"
#include "trace.hpp"

namespace prism::microbatch {

inline constexpr uint32_t kNone = 0xffffffff;

/// Operations that wait for each other may seem to overlap by this: in a real job by up to 15 us,
/// because a kernel's end and the next one's start are measured by different events.
inline constexpr int64_t kNoiseNs = 50'000;

/// A send or recv, or one of a batch.
struct Part {
  uint32_t operation = 0;
  uint32_t group = kNone;
  uint32_t peer = kNone;  ///< worker
  int32_t chunk = -1;
  int32_t micro_batch = -1;
  uint32_t place = 0;
};

struct Node {
  uint32_t operation = 0;
  uint32_t lane = 0;
  uint32_t group = kNone;  ///< collectives
  int32_t iteration = 0;
  int32_t micro_batch = -1;
  int32_t chunk = -1;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t place = 0;
  std::vector<Part> parts;
  std::vector<uint32_t> dependencies;
};

struct Lane {
  std::string name;
  int32_t kind = 0;
  int64_t end_ns = 0;  ///< of its last node
};

struct Program {
  std::vector<Lane> lanes;
  std::vector<Node> nodes;  ///< by start
};

/// Ranks that do collectives of one kind together, or exchange messages of one direction.
struct Group {
  std::string name;
  std::string description;
  std::vector<uint32_t> workers;
};

struct Job {
  Trace trace;
  std::vector<Operation> operations;  ///< by index of the trace's
  std::vector<int64_t> steps;         ///< by iteration
  std::vector<Program> programs;      ///< by worker
  std::vector<Group> groups;
  std::vector<std::string> notes;

  const Operation& operation(uint32_t index) const { return operations[index]; }
  std::string rank_and_step(uint32_t worker, int32_t iteration) const;
};

void make_nodes(Job& job);
void label_messages(Job& job);
void make_groups(Job& job);
void add_dependencies(Job& job);
/// Where the file shows communications without waiting: when each rank arrived.
void estimate_arrivals(Job& job);

Job make_job(Trace trace);

}  // namespace prism::microbatch
