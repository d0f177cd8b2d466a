// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/kineto/communicators.hpp"

#include <algorithm>

#include "plugins/formats/kineto/metadata.hpp"

namespace prism::kineto {

std::vector<uint32_t> Communicators::strided(uint64_t first, uint64_t stride, uint64_t size) {
  constexpr uint64_t kMost = 1 << 22;  // a few bytes of the file ask for all of them
  made_up_ += size;
  if (made_up_ > kMost) {
    throw sdk::Error(PRISM_STATUS_RESOURCE_EXHAUSTED,
                     "the process groups of the trace have more than " + std::to_string(kMost) +
                         " ranks together, without a list of them");
  }
  std::vector<uint32_t> ranks;
  for (uint64_t i = 0; i < size; ++i) {
    ranks.push_back(static_cast<uint32_t>(first + i * stride));
  }
  return ranks;
}

std::vector<uint32_t> Communicators::ranks_of(const Group& group) {
  const auto fits = [&](uint64_t size) {
    return size > 0 && (group.size < 0 || static_cast<int64_t>(size) == group.size);
  };
  const auto configured = trace_.group_ranks.find(group.name);
  if (configured != trace_.group_ranks.end() && fits(configured->second.size())) {
    return configured->second;
  }
  std::vector<uint32_t> listed = ranks_of_text(group.ranks);
  if (fits(listed.size())) {
    return listed;
  }
  constexpr int64_t kMost = 1 << 24;
  if (group.size > 0 && group.size <= kMost && group.first >= 0 && group.first < kMost &&
      group.stride > 0 && group.stride <= kMost / group.size) {
    return strided(static_cast<uint64_t>(group.first), static_cast<uint64_t>(group.stride),
                   static_cast<uint64_t>(group.size));
  }
  return group.size > 0 && fits(trace_.world_size) ? all_ranks() : std::vector<uint32_t>();
}

const Communicators::Known* Communicators::find(uint32_t group) {
  std::optional<Known>& known = known_[group == kNone ? known_.size() - 1 : group];
  if (!known) {
    sdk::TraceCommunicator communicator;
    communicator.backend = "nccl";
    if (group == kNone) {
      communicator.name = "all ranks";
      communicator.ranks = trace_.world_size > 0 ? all_ranks() : given_;
    } else {
      const Group& named = trace_.groups.all()[group];
      communicator.name = named.name;
      communicator.description = named.description;
      communicator.ranks = ranks_of(named);
    }
    const std::vector<uint32_t>& ranks = communicator.ranks;
    known.emplace();
    if (!ranks.empty()) {
      if (std::find(ranks.begin(), ranks.end(), rank_) == ranks.end()) {
        throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                         "rank " + std::to_string(rank_) + " communicates in the process group '" +
                             communicator.name + "' (" + communicator.description +
                             "), which it is not in: is it the trace of another rank?");
      }
      known->index = sink_.add_communicator(communicator);
      told_ = true;
      known->ranks = ranks;
    }
  }
  return known->ranks.empty() ? nullptr : &*known;
}

void Communicators::tell_world() {
  if (!told_ && trace_.world_size > 1 && rank_ < trace_.world_size) {
    find(kNone);
  }
}

}  // namespace prism::kineto
