// SPDX-License-Identifier: Apache-2.0
/// The process groups of a rank as communicators of the sink.
#pragma once

#include <optional>
#include <vector>

#include "plugins/formats/kineto/records.hpp"
#include "prism/sdk/format.hpp"

namespace prism::kineto {

class Communicators {
 public:
  /// `given`: the ranks of all files, for communications that name no group of a trace that does
  /// not say how many ranks there are.
  Communicators(const RankTrace& trace, uint32_t rank, std::vector<uint32_t> given,
                sdk::TraceSink& sink)
      : trace_(trace),
        rank_(rank),
        given_(std::move(given)),
        sink_(sink),
        known_(trace.groups.all().size() + 1) {}

  struct Known {
    uint32_t index = 0;  ///< of the sink
    std::vector<uint32_t> ranks;
  };
  /// `group`: into the group table, or kNone. Null: the trace does not say its ranks. Throws
  /// sdk::Error for a group that the rank is not in.
  const Known* find(uint32_t group);
  /// Of a trace without communication: all ranks, which tell the sink how many there are.
  void tell_world();

 private:
  std::vector<uint32_t> ranks_of(const Group& group);
  std::vector<uint32_t> all_ranks() { return strided(0, 1, trace_.world_size); }
  std::vector<uint32_t> strided(uint64_t first, uint64_t stride, uint64_t size);

  const RankTrace& trace_;
  const uint32_t rank_;
  const std::vector<uint32_t> given_;
  uint64_t made_up_ = 0;  ///< ranks of groups that are not listed in the file
  sdk::TraceSink& sink_;
  std::vector<std::optional<Known>> known_;
  bool told_ = false;  ///< a communicator
};

}  // namespace prism::kineto
