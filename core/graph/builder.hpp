// SPDX-License-Identifier: Apache-2.0
/// Builds a Program in stream order: what a rank did first is added first.
///
///   Builder b(/*rank=*/0, /*world_size=*/2);
///   const uint32_t world = b.add_communicator({"default_pg", "", "gloo", {0, 1}});
///   const uint32_t cpu = b.add_lane(LaneKind::Cpu, "cpu:0");
///   const uint32_t comm = b.add_lane(LaneKind::Comm, "comm:default_pg");
///   const uint32_t forward = b.add_compute(cpu, 1000);
///   Collective gradient{Kind::AllReduce, world, PRISM_DTYPE_F32, PRISM_REDUCE_SUM};
///   gradient.input_bytes = gradient.output_bytes = 4096;
///   const uint32_t reduce = b.add_collective(comm, gradient, {forward});
///   b.add_transfer(cpu, reduce);           // depends on `reduce`
///   b.next_iteration();
///   Program program = std::move(b).finish();
///
/// The builder numbers nodes, the collectives of each communicator (Node::sequence) and the
/// creations of each communicator (Communicator::nth and ::creation). Dependencies are nodes that
/// were added before. Arguments out of range are bugs and abort. Not thread-safe.
#pragma once

#include <vector>

#include "core/graph/program.hpp"

namespace prism::graph {

/// What a collective node says beside its place; see Node for the fields.
struct Collective {
  Kind kind = Kind::AllReduce;
  uint32_t communicator = 0;
  uint8_t dtype = 0;
  uint8_t reduction = 0;
  int32_t root = -1;
  uint64_t input_bytes = 0;
  uint64_t output_bytes = 0;
  DurationNs duration = 0;
};

class Builder {
 public:
  Builder(Rank rank, uint32_t world_size);

  /// A communicator that the rank is in; returns its index. Sets `nth` and `creation`.
  uint32_t add_communicator(Communicator communicator);
  /// A creation call for a group that the rank is not in. Sets `nth` and `creation`.
  void add_other(Communicator communicator);
  uint32_t add_lane(LaneKind kind, std::string name);

  uint32_t add_compute(uint32_t lane, DurationNs duration,
                       const std::vector<uint32_t>& dependencies = {});
  uint32_t add_collective(uint32_t lane, const Collective& collective,
                          const std::vector<uint32_t>& dependencies = {});
  /// A lone send or recv.
  uint32_t add_message(uint32_t lane, const Part& part,
                       const std::vector<uint32_t>& dependencies = {});
  /// Sends and recvs that arrive together and end with the last.
  uint32_t add_batch(uint32_t lane, const std::vector<Part>& parts,
                     const std::vector<uint32_t>& dependencies = {});
  /// The core moves the data of communication `of`; depends on it.
  uint32_t add_transfer(uint32_t lane, uint32_t of, DurationNs duration = 0,
                        const std::vector<uint32_t>& dependencies = {});

  /// Nodes added from now on belong to the next iteration.
  void next_iteration();
  const Program& program() const { return program_; }
  Program finish() &&;

 private:
  void number(Communicator& communicator);
  uint32_t append(Node node, uint32_t lane, const std::vector<uint32_t>& dependencies);
  uint32_t append_parts(Kind kind, uint32_t lane, const std::vector<Part>& parts,
                        const std::vector<uint32_t>& dependencies);

  Program program_;
  std::vector<uint64_t> next_sequence_;  ///< by communicator
  uint32_t creations_ = 0;
  uint32_t iteration_ = 0;
};

}  // namespace prism::graph
