// SPDX-License-Identifier: Apache-2.0
/// From counts per expert to an assignment: which experts each token gets.
///
///   prism::routing::Shape shape{.tokens = 4096, .experts = 128, .top_k = 8};
///   std::vector<uint32_t> experts(shape.tokens * shape.top_k);
///   std::string problem = prism::routing::assign(shape, counts, seed, experts);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "prism/routing/conditional_poisson.hpp"
#include "prism/routing/repair.hpp"
#include "prism/routing/sets.hpp"
#include "prism/routing/shape.hpp"
#include "prism/routing/shuffle.hpp"
#include "prism/routing/trades.hpp"
#include "prism/sdk/random.hpp"

namespace prism::routing {

namespace detail {

/// Draws the sets uniformly among all with these counts: 0 < counts[i] < tokens.
inline void draw_sets(const Sets& sets, std::span<const uint64_t> counts, sdk::Random& random) {
  // Independent draws and a repair of the counts are fast, but need tables, and few tokens need a
  // repair of many; trades are exact and pay for few slots. Both give the same distribution.
  constexpr uint64_t kFewSlots = 4096;
  constexpr uint64_t kMostCells = uint64_t{1} << 22;
  const Wide cells = ConditionalPoisson::cells(sets.members, sets.size);
  if (sets.slots() > kFewSlots && cells <= kMostCells && cells / 8 <= sets.slots()) {
    const ConditionalPoisson distribution(counts, sets.tokens, sets.size);
    std::vector<uint64_t> have(sets.members);
    for (uint64_t token = 0; token < sets.tokens; ++token) {
      const std::span<uint32_t> set = sets.of(token);
      distribution.draw(random, set);
      for (const uint32_t member : set) {
        ++have[member];
      }
    }
    if (repair(sets, counts, have, random)) {
      return;
    }
  }
  assign_by_trades(sets, counts, random);
}

}  // namespace detail

/// Writes the experts of each token, those of token t at t * top_k, all different, in random order.
/// Every expert comes as often as `counts` says. The assignment is drawn uniformly among all with
/// these counts: exactly, by trades, where there are at most 4096 slots to draw; beyond, tokens
/// draw independently, and as few as needed are changed for the counts, which moves how often pairs
/// of experts meet by less than 0.1 %. So tokens are exchangeable, and neighbours have nothing in
/// common.
///
/// The same arguments give the same bytes with every compiler and on every machine: no
/// floating-point number is involved.
///
/// Returns why the counts cannot be realised (check_counts), or "". `experts` must have tokens *
/// top_k elements. Any thread. Memory beyond `experts`: up to 32 MiB of tables; by trades, 8 bytes
/// per token. Throws std::bad_alloc.
[[nodiscard]] inline std::string assign(const Shape& shape, std::span<const uint64_t> counts,
                                        uint64_t seed, std::span<uint32_t> experts) {
  std::string problem = check_counts(shape, counts);
  if (!problem.empty()) {
    return problem;
  }
  if (experts.size() != shape.tokens * shape.top_k) {
    return "the assignment needs room for " + std::to_string(shape.tokens * shape.top_k) +
           " numbers, not " + std::to_string(experts.size());
  }
  // What there is to draw: only experts that get some tokens, but not all. Of these, a token either
  // gets few, or lacks few; the sets are the smaller of both.
  std::vector<uint32_t> always;
  std::vector<uint32_t> open;
  std::vector<uint64_t> open_counts;
  for (uint32_t expert = 0; expert < shape.experts; ++expert) {
    if (counts[expert] == shape.tokens) {
      always.push_back(expert);
    } else if (counts[expert] > 0) {
      open.push_back(expert);
      open_counts.push_back(counts[expert]);
    }
  }
  const auto members = static_cast<uint32_t>(open.size());
  uint32_t size = shape.tokens == 0 ? 0 : shape.top_k - static_cast<uint32_t>(always.size());
  const bool lacking = size > members / 2;
  if (lacking) {
    size = members - size;
    for (uint64_t& count : open_counts) {
      count = shape.tokens - count;
    }
  }
  sdk::Random random(seed);
  const detail::Sets sets{experts.data(), shape.tokens, shape.top_k, size, members};
  if (size > 0) {
    detail::draw_sets(sets, open_counts, random);
  }
  // From sets to experts, in place.
  std::vector<uint8_t> lacks(members);
  for (uint64_t token = 0; token < shape.tokens; ++token) {
    const std::span<uint32_t> row =
        experts.subspan(static_cast<size_t>(token * shape.top_k), shape.top_k);
    size_t filled = 0;
    if (lacking) {
      for (const uint32_t member : sets.of(token)) {
        lacks[member] = 1;
      }
      for (uint32_t member = 0; member < members; ++member) {
        if (std::exchange(lacks[member], uint8_t{0}) == 0) {
          row[filled++] = open[member];
        }
      }
    } else {
      for (; filled < size; ++filled) {
        row[filled] = open[row[filled]];
      }
    }
    for (const uint32_t expert : always) {
      row[filled++] = expert;
    }
    shuffle(row, random);
  }
  return {};
}

}  // namespace prism::routing
