// SPDX-License-Identifier: Apache-2.0
/// Memory that shows who reads or writes where it must not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include "sdk/conformance/test.hpp"

namespace prism::conformance {

/// How a struct lies in memory.
enum class Placement : uint8_t {
  Plain,   ///< as this SDK has it
  Longer,  ///< of a later version: a larger struct_size, behind it bytes that mean nothing here
  AtEdge,  ///< of version 1.0, the byte behind it cannot be read
};

/// Copy of a growable struct whose first member is struct_size.
template <typename T>
class Placed {
 public:
  Placed(const T& value, Placement placement) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    bytes_ = 2 * page;
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) {
      fail("out of memory for the test itself");
    }
    auto* begin = static_cast<char*>(memory_);
    std::memset(begin, 0xa5, bytes_);
    char* at = placement == Placement::AtEdge ? begin + page - sizeof(T) : begin;
    std::memcpy(at, &value, sizeof(T));
    value_ = reinterpret_cast<T*>(at);
    if (placement == Placement::Longer) {
      value_->struct_size = static_cast<uint32_t>(sizeof(T)) + 64;
    }
    mprotect(begin + page, page, PROT_NONE);
  }
  Placed(const Placed&) = delete;
  Placed& operator=(const Placed&) = delete;
  ~Placed() { munmap(memory_, bytes_); }

  const T* get() const { return value_; }

 private:
  void* memory_ = nullptr;
  size_t bytes_ = 0;
  T* value_ = nullptr;
};

/// `bytes` of memory for a plugin to write, between guards.
class GuardedBuffer {
 public:
  GuardedBuffer(uint64_t bytes, unsigned char poison) : memory_(2 * kGuard, kMark), bytes_(bytes) {
    memory_.insert(memory_.begin() + kGuard, bytes, poison);
  }
  void* data() { return memory_.data() + kGuard; }
  const unsigned char* data() const { return memory_.data() + kGuard; }
  template <typename T>
  const T* as() const {
    return reinterpret_cast<const T*>(data());
  }
  std::string copy() const { return {reinterpret_cast<const char*>(data()), bytes_}; }

  /// Fails when there was writing before or behind the buffer.
  void require_intact(const std::string& what) const {
    for (size_t i = 0; i < kGuard; ++i) {
      if (memory_[kGuard - 1 - i] != kMark) {
        fail(what + " wrote " + std::to_string(i + 1) + " bytes before its output");
      }
      if (memory_[kGuard + bytes_ + i] != kMark) {
        fail(what + " wrote " + std::to_string(i + 1) + " bytes behind the end of its output of " +
             std::to_string(bytes_) + " bytes");
      }
    }
  }

 private:
  static constexpr size_t kGuard = 8192;  // keeps the alignment of the allocation
  static constexpr unsigned char kMark = 0xc9;
  std::vector<unsigned char> memory_;
  size_t bytes_;
};

}  // namespace prism::conformance
