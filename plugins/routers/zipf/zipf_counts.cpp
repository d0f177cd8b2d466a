// SPDX-License-Identifier: Apache-2.0
#include "plugins/routers/zipf/zipf_counts.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "plugins/routers/zipf/inverse_power.hpp"
#include "prism/routing/shuffle.hpp"

namespace prism::zipf {
namespace {

__extension__ using Wide = unsigned __int128;

/// How many of the hottest experts get every token: while the next one's share of what is left is
/// `tokens` or more.
uint32_t full_experts(const std::vector<double>& weights, uint64_t tokens, uint32_t top_k) {
  std::vector<double> rest(weights.size() + 1);  // sum of the weights from here on
  for (size_t i = weights.size(); i-- > 0;) {
    rest[i] = rest[i + 1] + weights[i];
  }
  uint32_t full = 0;
  while (full < top_k && tokens > 0 &&
         static_cast<double>(top_k - full) * weights[full] >= rest[full]) {
    ++full;
  }
  return full;
}

}  // namespace

std::vector<uint64_t> counts_by_heat(uint64_t tokens, uint32_t experts, uint32_t top_k,
                                     double exponent, sdk::Random& ties) {
  std::vector<double> weights(experts);
  for (uint32_t i = 0; i < experts; ++i) {
    weights[i] = inverse_power(i + 1, exponent);
  }
  const uint32_t full = full_experts(weights, tokens, top_k);
  std::vector<uint64_t> counts(experts);
  std::fill_n(counts.begin(), full, tokens);
  if (full == top_k) {
    return counts;
  }

  // The others, in integers from here on, so that the sum is exact.
  std::vector<uint64_t> parts(experts);
  Wide whole = 0;
  for (uint32_t i = full; i < experts; ++i) {
    parts[i] = static_cast<uint64_t>(std::ldexp(weights[i] / weights[full], 60));
    whole += parts[i];
  }
  const uint64_t to_share = tokens * (top_k - full);
  uint64_t left = to_share;
  std::vector<Wide> remainders(experts);
  for (uint32_t i = full; i < experts; ++i) {
    const Wide share = Wide{parts[i]} * to_share;
    counts[i] = std::min(static_cast<uint64_t>(share / whole), tokens);
    remainders[i] = share % whole;
    left -= counts[i];
  }
  std::vector<uint32_t> by_remainder(experts - full);
  std::iota(by_remainder.begin(), by_remainder.end(), full);
  routing::shuffle(std::span(by_remainder), ties);
  std::stable_sort(by_remainder.begin(), by_remainder.end(),
                   [&](uint32_t a, uint32_t b) { return remainders[a] > remainders[b]; });
  // Once around, unless rounding cut the hottest of them at `tokens`.
  for (size_t i = 0; left > 0; i = (i + 1) % by_remainder.size()) {
    uint64_t& count = counts[by_remainder[i]];
    if (count < tokens) {
      ++count;
      --left;
    }
  }
  return counts;
}

}  // namespace prism::zipf
