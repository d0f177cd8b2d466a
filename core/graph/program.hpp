// SPDX-License-Identifier: Apache-2.0
/// What one executed rank did, in its own terms: lanes, nodes, edges, communicators, durations.
/// The recorder fills it in stream order; `instantiate` (job.hpp) makes all ranks of a job from it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "prism/abi/comm.h"

namespace prism::graph {

enum class Kind : uint8_t {
  Compute = 0,
  AllReduce = PRISM_COMM_ALL_REDUCE,
  AllGather = PRISM_COMM_ALL_GATHER,
  ReduceScatter = PRISM_COMM_REDUCE_SCATTER,
  AllToAll = PRISM_COMM_ALL_TO_ALL,
  Barrier = PRISM_COMM_BARRIER,
  Broadcast = PRISM_COMM_BROADCAST,
  Scatter = PRISM_COMM_SCATTER,
  Reduce = PRISM_COMM_REDUCE,
  Gather = PRISM_COMM_GATHER,
  Send = PRISM_COMM_SEND,
  Recv = PRISM_COMM_RECV,
  Batch = 32,     ///< sends and recvs that arrive together and end with the last
  Transfer = 33,  ///< the rank's core moves the data of `of`, a communication that has no duration
                  ///< of its own (CPU device: transfers occupy the CPU lane)
};
/// "all_reduce", "compute", ...
const char* to_string(Kind kind);
/// All members take part in one synchronization group (not compute, send, recv, batch, transfer).
bool is_collective(Kind kind);
/// Made of parts: send, recv, batch. Their durations are those of the parts; Node::duration is 0.
bool has_parts(Kind kind);
/// A collective with a root: broadcast, scatter, reduce, gather.
bool has_root(Kind kind);

inline constexpr uint32_t kNone = 0xffffffff;
inline constexpr int32_t kAnySource = -2;

/// A process group as the rank saw it.
struct Communicator {
  std::string name;         ///< the framework's; may differ between ranks
  std::string description;  ///< e.g. "DATA_PARALLEL_GROUP"; may be empty
  std::string backend;      ///< "gloo", "nccl"
  std::vector<Rank> ranks;  ///< in group order
  uint32_t nth = 0;         ///< n-th creation of this (ranks, description, backend)
  uint32_t creation = 0;    ///< n-th creation call that the rank saw: a check, no key
  bool operator==(const Communicator&) const = default;
};

/// One send or recv of a Send, Recv or Batch node.
struct Part {
  Kind kind = Kind::Send;  ///< Send or Recv
  int32_t peer = 0;        ///< group position in the communicator, or kAnySource
  int32_t tag = 0;
  uint32_t communicator = 0;
  uint64_t bytes = 0;
  uint8_t dtype = 0;
  DurationNs duration = 0;  ///< pure transfer
  bool operator==(const Part&) const = default;
};

/// One entry of a lane. Sizes in bytes, durations in ns (pure transfer for communications).
struct Node {
  Kind kind = Kind::Compute;
  uint8_t dtype = 0;
  uint8_t reduction = 0;
  uint32_t lane = 0;
  uint32_t communicator = kNone;  ///< index into Program::communicators; collectives
  uint64_t sequence = 0;          ///< n-th collective of that communicator, from 0
  int32_t root = -1;              ///< group position; rooted collectives
  uint64_t input_bytes = 0;       ///< what this rank contributes
  uint64_t output_bytes = 0;      ///< what it gets
  uint32_t first_part = 0;        ///< Send, Recv, Batch: into Program::parts
  uint32_t part_count = 0;
  uint32_t of = kNone;            ///< Transfer: the communication node whose data moves
  uint32_t first_dependency = 0;  ///< into Program::dependencies: nodes that must have ended
  uint32_t dependency_count = 0;
  uint32_t iteration = 0;
  DurationNs duration = 0;
  DurationNs gap = 0;  ///< from when all that it depends on has ended to its arrival
};

/// What a node is in the words of the framework; indices into Program::texts and -1: not known.
struct Labels {
  uint32_t name = kNone;   ///< of the kernel or operation
  uint32_t phase = kNone;  ///< "forward", "backward", "optimizer", ...
  int32_t micro_batch = -1;
  int32_t chunk = -1;  ///< of the model, where a pipeline stage has several
  int32_t layer = -1;
  bool operator==(const Labels&) const = default;
};

enum class LaneKind : uint8_t { Cpu, Stream, Comm };

struct Lane {
  LaneKind kind = LaneKind::Cpu;
  std::string name;  ///< "cpu:0", "stream:7", "comm:default_pg"
  bool operator==(const Lane&) const = default;
};

/// The recorded rank. Nodes are in an order in which each node comes after its lane predecessor
/// and its dependencies.
struct Program {
  Rank rank = 0;
  uint32_t world_size = 0;
  uint32_t iterations = 0;  ///< nodes carry 0 .. iterations - 1
  std::vector<Lane> lanes;
  std::vector<Communicator> communicators;  ///< those that the rank is in
  std::vector<Communicator> others;         ///< creation calls it saw for groups it is not in
  std::vector<Node> nodes;
  std::vector<Part> parts;
  std::vector<uint32_t> dependencies;
  std::vector<Labels> labels;  ///< by node, or empty
  std::vector<std::string> texts;
};

/// How many communicators of the program, those that the rank is not in included, have the ranks,
/// description and backend of `communicator`: the `nth` of one more.
uint32_t count_alike(const Program& program, const Communicator& communicator);

}  // namespace prism::graph
