// SPDX-License-Identifier: Apache-2.0
/// Short ways to write programs in tests.
#pragma once

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/builder.hpp"

namespace prism::graph::test {

inline std::vector<Rank> ranks_between(Rank first, Rank last) {
  std::vector<Rank> ranks(last - first + 1);
  std::iota(ranks.begin(), ranks.end(), first);
  return ranks;
}

/// A program with one CPU and one communication lane, whose communicators are known by name.
class Rig {
 public:
  Rig(Rank rank, uint32_t world_size) : builder(rank, world_size), rank_(rank) {
    cpu = builder.add_lane(LaneKind::Cpu, "cpu:0");
    comm = builder.add_lane(LaneKind::Comm, "comm:0");
  }

  /// new_group: every rank calls it, only members are in it. Returns the index if a member.
  uint32_t group(const std::string& description, std::vector<Rank> ranks,
                 const std::string& backend = "gloo") {
    Communicator communicator{description + "_name", description, backend, std::move(ranks)};
    for (const Rank member : communicator.ranks) {
      if (member == rank_) {
        return builder.add_communicator(std::move(communicator));
      }
    }
    builder.add_other(std::move(communicator));
    return kNone;
  }
  uint32_t compute(DurationNs duration) { return builder.add_compute(cpu, duration); }
  uint32_t collective(Kind kind, uint32_t communicator, uint64_t bytes = 8, int32_t root = -1,
                      DurationNs duration = 0) {
    Collective node{kind, communicator, PRISM_DTYPE_F32, PRISM_REDUCE_SUM,
                    root, bytes,        bytes,           duration};
    return builder.add_collective(cpu, node);
  }
  static Part part(Kind kind, uint32_t communicator, int32_t peer, uint64_t bytes = 64,
                   DurationNs duration = 0, int32_t tag = 0) {
    return {kind, peer, tag, communicator, bytes, PRISM_DTYPE_F32, duration};
  }
  uint32_t message(Kind kind, uint32_t communicator, int32_t peer, uint64_t bytes = 64,
                   DurationNs duration = 0, int32_t tag = 0) {
    return builder.add_message(cpu, part(kind, communicator, peer, bytes, duration, tag));
  }
  Program finish() { return std::move(builder).finish(); }

  Builder builder;
  uint32_t cpu = 0;
  uint32_t comm = 0;

 private:
  Rank rank_;
};

}  // namespace prism::graph::test
