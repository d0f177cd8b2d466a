// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "prism/routing/fraction.hpp"
#include "prism/sdk/random.hpp"

namespace prism::routing::detail {

/// Draws sets of fixed size whose members have given probabilities, and which are as random as that
/// allows (maximum entropy; "conditional Poisson sampling", Chen, Dempster and Liu 1994): a coin of
/// its own for every member, given that exactly `size` of them show heads. Independent draws of it,
/// given how often each member comes in all, are uniform among all assignments with these counts.
///
/// A draw walks through the members in order: from each state (next member that may come, number of
/// members to come) one table look-up gives the next member of the set (alias method, Walker 1977).
class ConditionalPoisson {
 public:
  /// How many cells the tables of all states have, at most. size >= 1.
  static Wide cells(uint32_t members, uint32_t size) {
    return Wide{members} * (Wide{members} + 1) / 2 * (size - 1) + members;
  }

  /// 0 < counts[i] < tokens, their sum tokens * size.
  ConditionalPoisson(std::span<const uint64_t> counts, uint64_t tokens, uint32_t size)
      : members_(static_cast<uint32_t>(counts.size())), size_(size) {
    solve(counts, tokens);
    first_.resize(size_t{members_} * size_);
    cells_.reserve(static_cast<size_t>(cells(members_, size_)));
    for (uint32_t left = 1; left <= size_; ++left) {
      // Only what can be reached: size - left members have come, all before `next`.
      const uint32_t last = left == size_ ? 0 : members_ - left;
      for (uint32_t next = size_ - left; next <= last; ++next) {
        first_[size_t{left - 1} * members_ + next] = cells_.size();
        add_state(next, left);
      }
    }
  }

  /// Writes `size` members in ascending order.
  void draw(sdk::Random& random, std::span<uint32_t> set) const {
    uint32_t next = 0;
    uint32_t left = size_;
    for (uint32_t& member : set) {
      const uint64_t bits = random();
      const uint64_t outcomes = members_ - left - next + 1;
      const auto index = static_cast<uint32_t>(((bits >> 32) * outcomes) >> 32);
      const Cell& cell = cells_[first_[size_t{left - 1} * members_ + next] + index];
      member = static_cast<uint32_t>(bits) < cell.threshold ? next + index : cell.other;
      next = member + 1;
      --left;
    }
  }

 private:
  struct Cell {
    uint32_t threshold;  // of 2^32: below it the cell's own member, else the other
    uint32_t other;
  };

  /// The heads probabilities of the coins (heads_) for which member i comes in counts[i] / tokens
  /// of the sets, by coordinate ascent, and the tables tail_ that go with them. What is left of an
  /// error is smaller than the noise of `tokens` draws.
  void solve(std::span<const uint64_t> counts, uint64_t tokens) {
    constexpr int kSweeps = 60;
    constexpr Fraction kPrecision = kOne >> 20;
    std::vector<Fraction> wanted(members_);
    for (uint32_t i = 0; i < members_; ++i) {
      wanted[i] = ratio(counts[i], tokens);
    }
    heads_ = wanted;
    tail_.resize((size_t{members_} + 1) * (size_ + 1));
    std::vector<Fraction> before(size_ + 1);  // that r of the members before i show heads
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      fill_tails();
      std::fill(before.begin(), before.end(), Fraction{0});
      before[0] = kOne;
      Fraction moved = 0;
      for (uint32_t i = 0; i < members_; ++i) {
        // The others make a full set without i, or one that lacks just i.
        const Fraction without = times(others(before, i, size_), wanted[i]);
        const Fraction with = times(others(before, i, size_ - 1), kOne - wanted[i]);
        if (without + with > 0) {
          const Fraction heads = ratio(without, without + with);
          moved = std::max(moved, heads > heads_[i] ? heads - heads_[i] : heads_[i] - heads);
          heads_[i] = heads;
        }
        for (uint32_t r = size_; r > 0; --r) {
          before[r] = times(before[r], kOne - heads_[i]) + times(before[r - 1], heads_[i]);
        }
        before[0] = times(before[0], kOne - heads_[i]);
      }
      if (moved <= kPrecision) {
        break;
      }
    }
    fill_tails();
  }

  /// tail(i, r): that r of the members from i on show heads.
  Fraction& tail(uint32_t i, uint32_t r) { return tail_[size_t{i} * (size_ + 1) + r]; }

  void fill_tails() {
    for (uint32_t r = 0; r <= size_; ++r) {
      tail(members_, r) = r == 0 ? kOne : 0;
    }
    for (uint32_t i = members_; i-- > 0;) {
      tail(i, 0) = times(tail(i + 1, 0), kOne - heads_[i]);
      for (uint32_t r = 1; r <= size_; ++r) {
        tail(i, r) = times(tail(i + 1, r), kOne - heads_[i]) + times(tail(i + 1, r - 1), heads_[i]);
      }
    }
  }

  /// That `count` of all members but i show heads.
  Fraction others(std::span<const Fraction> before, uint32_t i, uint32_t count) {
    Fraction sum = 0;
    for (uint32_t r = 0; r <= count; ++r) {
      sum += times(before[r], tail(i + 1, count - r));
    }
    return sum;
  }

  /// The alias table of a state: which of the members next, next + 1, ... comes first.
  void add_state(uint32_t next, uint32_t left) {
    const uint32_t outcomes = members_ - left - next + 1;
    weights_.resize(outcomes);
    uint64_t total = 0;
    Fraction none_yet = kOne;
    for (uint32_t i = 0; i < outcomes; ++i) {
      const uint32_t member = next + i;
      weights_[i] = times(times(none_yet, heads_[member]), tail(member + 1, left - 1));
      total += weights_[i];
      none_yet = times(none_yet, kOne - heads_[member]);
    }
    if (total == 0) {  // so improbable a state that the fractions do not tell its outcomes apart
      std::fill(weights_.begin(), weights_.end(), uint64_t{1});
      total = outcomes;
    }
    // From here on in units of which an average outcome has 2^32.
    small_.clear();
    large_.clear();
    for (uint32_t i = 0; i < outcomes; ++i) {
      weights_[i] = static_cast<uint64_t>((Wide{weights_[i]} * outcomes << 32) / total);
      (weights_[i] < kFull ? small_ : large_).push_back(i);
    }
    const size_t first = cells_.size();
    for (uint32_t i = 0; i < outcomes; ++i) {
      cells_.push_back({std::numeric_limits<uint32_t>::max(), next + i});
    }
    while (!small_.empty() && !large_.empty()) {
      const uint32_t poor = small_.back();
      const uint32_t rich = large_.back();
      small_.pop_back();
      cells_[first + poor] = {static_cast<uint32_t>(weights_[poor]), next + rich};
      weights_[rich] -= kFull - weights_[poor];
      if (weights_[rich] < kFull) {
        large_.pop_back();
        small_.push_back(rich);
      }
    }
  }

  static constexpr uint64_t kFull = uint64_t{1} << 32;

  uint32_t members_;
  uint32_t size_;
  std::vector<Fraction> heads_;
  std::vector<Fraction> tail_;
  std::vector<size_t> first_;  // of the cells of state (next, left), at (left - 1) * members + next
  std::vector<Cell> cells_;
  std::vector<uint64_t> weights_;  // scratch of add_state
  std::vector<uint32_t> small_;
  std::vector<uint32_t> large_;
};

}  // namespace prism::routing::detail
