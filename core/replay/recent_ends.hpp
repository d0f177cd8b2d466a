// SPDX-License-Identifier: Apache-2.0
/// When the last nodes of a lane ended, of those that other lanes wait for: as many as have not
/// been read by all yet.
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/ids.hpp"

namespace prism::replay {

/// Entries [first, n) of a numbered sequence, in a ring whose size is a power of 2.
class RecentEnds {
 public:
  TimeNs operator[](uint32_t n) const { return ends_[n & mask_]; }
  /// Whether entry `n` has a place beside those that are held.
  bool has_room(uint32_t n) const { return n - first_ < size_; }
  void put(uint32_t n, TimeNs end) { ends_[n & mask_] = end; }
  /// Entries before `first` are needed no more.
  void drop_before(uint32_t first) { first_ = first; }
  void grow(uint32_t next) {
    const uint32_t larger = size_ == 0 ? 16 : 2 * size_;
    auto ends = std::make_unique<TimeNs[]>(larger);
    for (uint32_t n = first_; n != next; ++n) {
      ends[n & (larger - 1)] = ends_[n & mask_];
    }
    ends_ = std::move(ends);
    size_ = larger;
    mask_ = larger - 1;
  }

 private:
  std::unique_ptr<TimeNs[]> ends_;
  uint32_t size_ = 0;
  uint32_t mask_ = 0;
  uint32_t first_ = 0;
};

}  // namespace prism::replay
