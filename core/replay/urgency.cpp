// SPDX-License-Identifier: Apache-2.0
#include "core/replay/urgency.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

namespace prism::replay {
namespace {

constexpr uint64_t kFar = std::numeric_limits<uint64_t>::max();

/// Shortest paths from all ranks outside together.
class Distances {
 public:
  Distances(const State& state, const std::vector<Rank>& outside)
      : job_(state.job),
        peers_(job_.world_size),
        reached_(job_.communicators.size(), false),
        distances_(job_.world_size, kFar) {
    for (const graph::Channel& channel : state.messages.channels) {
      peers_[channel.source].push_back(channel.destination);
      peers_[channel.destination].push_back(channel.source);
    }
    for (const Rank rank : outside) {
      reach(rank, 0);
    }
    while (!open_.empty()) {
      const auto [distance, rank] = open_.top();
      open_.pop();
      if (distance == distances_[rank]) {
        leave(rank, distance);
      }
    }
  }

  const std::vector<uint64_t>& by_rank() const { return distances_; }

 private:
  using Open = std::pair<uint64_t, Rank>;

  void reach(Rank rank, uint64_t distance) {
    if (distance < distances_[rank]) {
      distances_[rank] = distance;
      open_.push({distance, rank});
    }
  }
  void leave(Rank rank, uint64_t distance) {
    for (const Rank peer : peers_[rank]) {
      reach(peer, distance + 1);
    }
    const size_t slots = job_.program(rank).communicators.size();
    for (uint32_t slot = 0; slot < slots; ++slot) {
      const uint32_t communicator = job_.communicator(rank, slot);
      // Ranks are left in the order of distance: the first member is the nearest.
      if (communicator != kNone && !reached_[communicator]) {
        reached_[communicator] = true;
        const std::vector<Rank>& members = job_.communicators[communicator].ranks;
        for (const Rank member : members) {
          reach(member, distance + members.size());
        }
      }
    }
  }

  const graph::Job& job_;
  std::vector<std::vector<Rank>> peers_;  ///< by rank: who it sends to or receives from
  std::vector<bool> reached_;             ///< by communicator
  std::vector<uint64_t> distances_;
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;
};

}  // namespace

std::vector<uint8_t> levels_of_urgency(const State& state, const std::vector<Rank>& outside) {
  const Distances distances(state, outside);
  std::vector<uint8_t> levels;
  levels.reserve(distances.by_rank().size());
  for (const uint64_t distance : distances.by_rank()) {
    // Far is 64 bits wide.
    const auto level = static_cast<uint32_t>(std::bit_width(distance));
    levels.push_back(static_cast<uint8_t>(std::min(level, UrgentFirst::kLevels - 1)));
  }
  return levels;
}

}  // namespace prism::replay
