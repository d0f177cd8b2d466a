// SPDX-License-Identifier: Apache-2.0
/// The open part of a numbered sequence: entries come in at the end and leave at the front, so that
/// memory is that of what is open, not of the whole sequence.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace prism::replay {

/// Entry n of a sequence of T, for n in [begin, end). T's default means "nothing has happened".
template <typename T>
class Window {
 public:
  /// Entry n, n >= begin; opens it and those before it if needed.
  T& open(uint32_t n) {
    if (n >= end_) {
      reserve(n + 1 - begin_);
      end_ = n + 1;
    }
    return entries_[n & mask_];
  }
  /// Entry n in [begin, end).
  T& operator[](uint32_t n) { return entries_[n & mask_]; }

  /// Drops entries from the front as long as `done(entry)` holds.
  template <typename Done>
  void drop_front(Done&& done) {
    while (begin_ != end_ && done(entries_[begin_ & mask_])) {
      entries_[begin_++ & mask_] = T{};
    }
  }

 private:
  void reserve(uint32_t size) {
    const uint32_t capacity = entries_ == nullptr ? 0 : mask_ + 1;
    if (size <= capacity) {
      return;
    }
    uint32_t larger = capacity == 0 ? 2 : capacity;
    while (larger < size) {
      larger *= 2;
    }
    auto entries = std::make_unique<T[]>(larger);
    for (uint32_t n = begin_; n != end_; ++n) {
      entries[n & (larger - 1)] = std::move(entries_[n & mask_]);
    }
    entries_ = std::move(entries);
    mask_ = larger - 1;
  }

  std::unique_ptr<T[]> entries_;
  uint32_t mask_ = 0;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
};

}  // namespace prism::replay
