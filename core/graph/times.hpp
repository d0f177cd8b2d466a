// SPDX-License-Identifier: Apache-2.0
/// How long the nodes of a job take, apart from its structure: one run of it, rank by rank, where
/// ranks that share their times share one set. A program has times too (Node::duration, Node::gap,
/// Part::duration): those of every rank of the class that has no set of its own.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/ids.hpp"
#include "core/graph/job.hpp"

namespace prism::graph {

/// Durations in 4 bytes each; those of 4.29 s and more are kept beside. Not negative.
class Column {
 public:
  static constexpr uint32_t kLong = 0xffffffff;  ///< in `values`: see `longs`
  using Long = std::pair<uint32_t, DurationNs>;  ///< index, value

  Column() = default;
  explicit Column(size_t size) : values_(size, 0) {}
  /// `longs` ascending by index, one for each kLong in `values`.
  Column(std::vector<uint32_t> values, std::vector<Long> longs)
      : values_(std::move(values)), longs_(std::move(longs)) {}

  bool empty() const { return values_.empty(); }
  size_t size() const { return values_.size(); }
  DurationNs operator[](size_t index) const {
    const uint32_t value = values_[index];
    return value != kLong ? value : long_at(index);
  }
  void set(size_t index, DurationNs value);

  const std::vector<uint32_t>& values() const { return values_; }
  const std::vector<Long>& longs() const { return longs_; }
  bool operator==(const Column&) const = default;

 private:
  DurationNs long_at(size_t index) const;

  std::vector<uint32_t> values_;
  std::vector<Long> longs_;
};

/// Of one rank, by the indices of its program. A column that is empty: as the program says.
struct RankTimes {
  Column durations;  ///< by node; of send, recv and batch 0: see `parts`
  Column gaps;       ///< by node
  Column parts;      ///< by part
  bool operator==(const RankTimes&) const = default;
};

/// Of all ranks.
struct Times {
  std::vector<RankTimes> sets;
  std::vector<uint32_t> set_of;  ///< by rank, into `sets`; kNone: as the program; empty: for all

  const RankTimes* of(Rank rank) const {
    const uint32_t set = rank < set_of.size() ? set_of[rank] : kNone;
    return set == kNone ? nullptr : &sets[set];
  }
  bool operator==(const Times&) const = default;
};

/// What the nodes of a rank take under some times.
class TimesOfRank {
 public:
  TimesOfRank(const Program& program, const RankTimes* own) : program_(program), own_(own) {}
  TimesOfRank(const Job& job, const Times& times, Rank rank)
      : TimesOfRank(job.program(rank), times.of(rank)) {}

  DurationNs duration(uint32_t node) const {
    return own_ != nullptr && !own_->durations.empty() ? own_->durations[node]
                                                       : program_.nodes[node].duration;
  }
  DurationNs gap(uint32_t node) const {
    return own_ != nullptr && !own_->gaps.empty() ? own_->gaps[node] : program_.nodes[node].gap;
  }
  DurationNs part(uint32_t part) const {
    return own_ != nullptr && !own_->parts.empty() ? own_->parts[part]
                                                   : program_.parts[part].duration;
  }
  /// Own time of a node of any kind: of a batch that of its longest part.
  DurationNs own_time(uint32_t node) const;

 private:
  const Program& program_;
  const RankTimes* own_;
};

/// All that a rank takes, in columns of its own.
RankTimes columns_of(const Program& program, const RankTimes* own);

}  // namespace prism::graph
