// SPDX-License-Identifier: Apache-2.0
/// A class's program in the form that the engine runs: its nodes lane by lane, with the edges that
/// cross lanes in both directions. Shared by all ranks of the class.
#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/program.hpp"

namespace prism::replay {

inline constexpr uint32_t kNone = graph::kNone;

/// A node on its lane. Small: the engine reads one for every node of every rank.
struct Op {
  graph::Kind kind = graph::Kind::Compute;
  bool in_window = false;       ///< of the iterations that the analyses look at
  bool ends_iteration = false;  ///< the last of its iteration on its lane, which counts for it
  uint32_t dependency_count = 0;
  uint32_t reader_count = 0;
  uint32_t node = 0;
  uint32_t iteration = 0;
  uint32_t first_dependency = 0;
  uint32_t first_reader = 0;
  uint32_t source = kNone;  ///< it is the n-th node of its lane that other lanes wait for
  uint32_t kept = kNone;    ///< index among the nodes whose ends are kept
  uint32_t slot = kNone;    ///< collectives
  uint32_t sequence = 0;
  int32_t root = -1;
  uint32_t first_part = 0;
  uint32_t part_count = 0;
};

/// A place on a lane: its n-th node.
struct Place {
  uint32_t lane = 0;
  uint32_t index = 0;
};

struct Dependency : Place {
  uint32_t source = 0;  ///< Op::source of that node
};

/// A lane whose nodes wait for those of another.
struct ReadingLane {
  uint32_t lane = 0;
  /// By index on that lane: the first source that it or a later node waits for; kNone: no more.
  std::vector<uint32_t> first_needed;
};

struct CompiledLane {
  uint32_t first_op = 0;
  uint32_t op_count = 0;
  bool cpu = false;   ///< its ends end iterations: a CPU lane; every lane where there is none
  bool main = false;  ///< the first CPU lane; where there is none the one with the most compute
  std::vector<ReadingLane> read_by;
};

struct Compiled {
  std::vector<CompiledLane> lanes;
  std::vector<Op> ops;                   ///< lane by lane
  std::vector<Dependency> dependencies;  ///< on other lanes only
  std::vector<Place> readers;            ///< the reverse
  std::vector<Place> place_of_node;
  std::vector<std::vector<uint32_t>> collectives;  ///< by slot: nodes by sequence
  uint32_t kept = 0;                               ///< nodes in the window

  const Op& op(Place place) const { return ops[lanes[place.lane].first_op + place.index]; }
  const Op& op_of_node(uint32_t node) const { return op(place_of_node[node]); }
};

/// The window is [first_iteration, last_iteration].
Compiled compile(const graph::Program& program, uint32_t first_iteration, uint32_t last_iteration);

}  // namespace prism::replay
