// SPDX-License-Identifier: Apache-2.0
/// How late events were, as a histogram of fixed size.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "core/base/ids.hpp"

namespace prism::replay {

/// Adding takes a few ns and no memory. Up to 31 ns exact, above in steps of 1/16.
class Lateness {
 public:
  /// What is early (negative) counts as 0.
  void add(DurationNs late) {
    const auto value = static_cast<uint64_t>(std::max<DurationNs>(late, 0));
    ++counts_[bucket_of(value)];
    ++count_;
    max_ = std::max(max_, value);
  }

  uint64_t count() const { return count_; }
  DurationNs max() const { return static_cast<DurationNs>(max_); }
  /// At least a share `q` (0 .. 1) of the events was not later than this; rounded up to the end of
  /// its step. 0 without events.
  DurationNs quantile(double q) const {
    uint64_t below = 0;
    for (uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
      below += counts_[bucket];
      if (below != 0 && static_cast<double>(below) >= q * static_cast<double>(count_)) {
        return static_cast<DurationNs>(std::min(max_, last_of(bucket)));
      }
    }
    return 0;
  }

 private:
  static constexpr uint32_t kStepBits = 4;
  static constexpr uint32_t kSteps = 1U << kStepBits;
  static constexpr uint32_t kBuckets = (64 - kStepBits) * kSteps;

  static uint32_t bucket_of(uint64_t value) {
    if (value < kSteps) {
      return static_cast<uint32_t>(value);
    }
    const auto shift = static_cast<uint32_t>(std::bit_width(value)) - kStepBits - 1;
    return shift * kSteps + static_cast<uint32_t>(value >> shift);
  }
  /// The largest value of a bucket.
  static uint64_t last_of(uint32_t bucket) {
    if (bucket < 2 * kSteps) {
      return bucket;
    }
    const uint32_t shift = bucket / kSteps - 1;
    return (uint64_t{bucket % kSteps + kSteps + 1} << shift) - 1;
  }

  std::array<uint64_t, kBuckets> counts_{};
  uint64_t count_ = 0;
  uint64_t max_ = 0;
};

}  // namespace prism::replay
