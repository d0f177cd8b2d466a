// SPDX-License-Identifier: Apache-2.0
/// Which work matters to the ranks outside. Internal to core/replay.
///
/// After a barrier thousands of ranks can go on at once, which is more than the engine can replay
/// in that time, while an end that is due soon depends on few of them: on those that exchange data
/// with ranks outside.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/replay/state.hpp"

namespace prism::replay {

/// A stack of work in which that of more urgent ranks (a smaller level) lies above.
class UrgentFirst {
 public:
  static constexpr uint32_t kLevels = 64;

  /// By rank, below kLevels; before the first push.
  void set_levels(std::vector<uint8_t> levels) { level_of_ = std::move(levels); }

  bool empty() const { return used_ == 0; }
  const RankLane& back() const { return levels_[top()].back(); }
  void push_back(const RankLane& lane) {
    const uint32_t level = level_of_[lane.rank];
    levels_[level].push_back(lane);
    used_ |= uint64_t{1} << level;
  }
  void pop_back() {
    const uint32_t level = top();
    levels_[level].pop_back();
    if (levels_[level].empty()) {
      used_ &= ~(uint64_t{1} << level);
    }
  }

 private:
  uint32_t top() const { return static_cast<uint32_t>(std::countr_zero(used_)); }

  std::vector<uint8_t> level_of_;
  std::array<std::vector<RankLane>, kLevels> levels_;
  uint64_t used_ = 0;  ///< a bit for each level that is not empty
};

/// By rank: the logarithm of how many ranks lie between it and the nearest one outside, where a
/// message takes one more rank to come, and a communicator all its members.
std::vector<uint8_t> levels_of_urgency(const State& state, const std::vector<Rank>& outside);

}  // namespace prism::replay
