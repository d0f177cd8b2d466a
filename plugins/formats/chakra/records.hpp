// SPDX-License-Identifier: Apache-2.0
/// What a file says, message by message.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "plugins/formats/chakra/schema.hpp"
#include "prism/abi/draft/format.h"

namespace prism::chakra {

inline constexpr uint32_t kNone = 0xffffffff;
inline constexpr int64_t kNotTold = std::numeric_limits<int64_t>::min();

/// Texts that nodes share, by number.
class Texts {
 public:
  uint32_t number_of(std::string_view text);
  const std::string& operator[](uint32_t number) const { return *texts_[number]; }

 private:
  std::unordered_map<std::string, uint32_t> numbers_;
  std::vector<const std::string*> texts_;
};

/// What a node of a communication says beyond others.
struct Communication {
  int64_t type = kNotTold;  ///< CollectiveType
  int64_t bytes = kNotTold;
  int64_t source = kNotTold;  ///< a rank
  int64_t destination = kNotTold;
  int32_t tag = 0;
  uint32_t group = kNone;        ///< a text
  bool some_dimensions = false;  ///< of the topology: not all ranks take part

  // Of Prism.
  int64_t communicator = kNotTold;
  int64_t sequence = -1;
  int64_t input_bytes = 0;
  int64_t output_bytes = 0;
  int32_t root = -1;
  int32_t dtype = PRISM_DTYPE_OTHER;
  int32_t reduction = PRISM_REDUCE_NONE;
  int32_t peer = 0;
};

/// What a node of a trace that Prism wrote says beyond others.
struct OwnNode {
  int64_t lane = kNotTold;
  int64_t arrival_ns = kNotTold;
  int64_t start_ns = kNotTold;
  int64_t end_ns = kNotTold;
  uint32_t phase = kNone;  ///< a text
  int32_t iteration = -1;
  int32_t micro_batch = -1;
  int32_t chunk = -1;
  int32_t layer = -1;
  bool lane_order = false;
  bool part = false;
  bool batch = false;
};

struct Node {
  uint64_t id = 0;
  NodeType type = NodeType::Invalid;
  bool on_cpu = false;
  uint32_t name = kNone;
  uint32_t communication = kNone;  ///< in RankTrace::communications
  uint32_t dependency_count = 0;
  uint64_t first_dependency = 0;  ///< in RankTrace::dependencies
  uint64_t start_us = 0;          ///< 0 may mean: not told
  uint64_t duration_us = 0;
  int64_t thread = kNotTold;
  int64_t stream = kNotTold;
  uint32_t own = kNone;  ///< in RankTrace::own
};

/// A process group; no ranks: all of the job.
struct Group {
  std::string name;
  std::string description;
  std::string backend;
  std::vector<uint32_t> ranks;
};

struct Lane {
  int32_t kind = PRISM_LANE_CPU;
  std::string name;
};

struct RankTrace {
  std::string path;
  bool is_own = false;                 ///< written by Prism
  std::vector<Lane> lanes;             ///< of a trace that Prism wrote
  std::vector<Group> communicators;    ///< of a trace that Prism wrote
  std::vector<Group> groups;           ///< that METADATA nodes tell of
  std::vector<Node> nodes;             ///< in the order of the file
  std::vector<uint64_t> dependencies;  ///< ids
  std::vector<bool> control;           ///< by dependency: of ctrl_deps, not data_deps
  std::vector<Communication> communications;
  std::vector<OwnNode> own;
  Texts texts;
  uint64_t unreadable_groups = 0;  ///< lists of process groups that are none

  /// "FILE: node 439"
  std::string place(const Node& node) const { return path + ": node " + std::to_string(node.id); }
};

}  // namespace prism::chakra
