// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace prism::routing::detail {

/// One set of `size` different members for each token, in the caller's memory; members are numbers
/// below `members`. Sets are `stride` numbers apart.
struct Sets {
  uint32_t* data = nullptr;
  uint64_t tokens = 0;
  uint32_t stride = 0;
  uint32_t size = 0;
  uint32_t members = 0;

  uint64_t slots() const { return tokens * size; }
  std::span<uint32_t> of(uint64_t token) const { return {data + token * stride, size}; }
};

inline bool contains(std::span<const uint32_t> set, uint32_t member) {
  return std::find(set.begin(), set.end(), member) != set.end();
}

}  // namespace prism::routing::detail
