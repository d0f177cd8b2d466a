// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "prism/routing/sets.hpp"
#include "prism/sdk/random.hpp"

namespace prism::routing::detail {

constexpr uint32_t kHole = std::numeric_limits<uint32_t>::max();

/// `count` different numbers below `n`, ascending; each choice as likely as the others.
inline std::vector<uint64_t> choose(uint64_t n, uint64_t count, sdk::Random& random) {
  std::vector<uint64_t> chosen;
  chosen.reserve(static_cast<size_t>(count));
  while (chosen.size() < count) {
    while (chosen.size() < count) {
      chosen.push_back(random.below(n));
    }
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  }
  return chosen;
}

/// Takes what members have beyond `wanted` out of random sets, and leaves kHole there. Returns
/// where, as offsets from sets.data.
inline std::vector<uint64_t> take_surplus(const Sets& sets, std::span<const uint64_t> wanted,
                                          std::span<const uint64_t> have, sdk::Random& random) {
  struct Cursor {
    uint64_t seen = 0;                                     // occurrences of the member so far
    uint64_t next = std::numeric_limits<uint64_t>::max();  // the occurrence to take out
  };
  std::vector<Cursor> cursors(sets.members);
  std::vector<std::vector<uint64_t>> surplus(sets.members);  // occurrences to take, last one first
  const auto advance = [&](uint32_t member) {
    std::vector<uint64_t>& rest = surplus[member];
    cursors[member].next = rest.empty() ? std::numeric_limits<uint64_t>::max() : rest.back();
    if (!rest.empty()) {
      rest.pop_back();
    }
  };
  for (uint32_t member = 0; member < sets.members; ++member) {
    if (have[member] > wanted[member]) {
      surplus[member] = choose(have[member], have[member] - wanted[member], random);
      std::reverse(surplus[member].begin(), surplus[member].end());
      advance(member);
    }
  }
  std::vector<uint64_t> holes;
  for (uint64_t token = 0; token < sets.tokens; ++token) {
    for (uint32_t& member : sets.of(token)) {
      Cursor& cursor = cursors[member];
      if (cursor.seen++ == cursor.next) {
        advance(member);
        member = kHole;
        holes.push_back(static_cast<uint64_t>(&member - sets.data));
      }
    }
  }
  return holes;
}

/// Gives every member as many sets as `wanted` says, where `have` says how many it has, by changing
/// as few sets as needed. The sums of both are equal. False when that got too hard; the sets are
/// useless then.
inline bool repair(const Sets& sets, std::span<const uint64_t> wanted,
                   std::span<const uint64_t> have, sdk::Random& random) {
  const std::vector<uint64_t> holes = take_surplus(sets, wanted, have, random);
  std::vector<uint32_t> missing;
  for (uint32_t member = 0; member < sets.members; ++member) {
    if (wanted[member] > have[member]) {
      missing.insert(missing.end(), static_cast<size_t>(wanted[member] - have[member]), member);
    }
  }
  // Fills the hole with one of the missing members from `first` on, which it moves to `first`.
  const auto fill = [&](std::span<const uint32_t> set, uint32_t& hole, size_t first) {
    constexpr int kTries = 8;
    for (int i = 0; i < kTries; ++i) {
      std::swap(missing[first],
                missing[first + static_cast<size_t>(random.below(missing.size() - first))]);
      if (!contains(set, missing[first])) {
        hole = missing[first];
        return true;
      }
    }
    return false;
  };
  uint64_t tries_left = sets.slots() + (uint64_t{1} << 20);
  for (size_t i = 0; i < holes.size(); ++i) {
    const std::span<const uint32_t> set = sets.of(holes[i] / sets.stride);
    uint32_t& hole = sets.data[holes[i]];
    bool filled = fill(set, hole, i);
    while (!filled) {
      // The set has the missing member already: another set takes it and gives one of its own.
      if (tries_left-- == 0) {
        return false;
      }
      const std::span<uint32_t> other = sets.of(random.below(sets.tokens));
      uint32_t& given = other[static_cast<size_t>(random.below(sets.size))];
      if (given != kHole && !contains(other, missing[i]) && !contains(set, given)) {
        hole = std::exchange(given, missing[i]);
        filled = true;
      }
    }
  }
  return true;
}

}  // namespace prism::routing::detail
