// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prism/sdk/random.hpp"

namespace prism::zipf {

/// How many tokens the hottest expert, the second hottest, ... gets. The i-th of them (from 0) has
/// the share 1 / (i + 1)^exponent, but at most `tokens`; what is beyond goes to the others by their
/// shares. Whole numbers with the sum tokens * top_k by largest remainder, ties at random.
/// 1 <= top_k <= experts, 0 <= exponent <= 8, tokens * experts < 2^63.
std::vector<uint64_t> counts_by_heat(uint64_t tokens, uint32_t experts, uint32_t top_k,
                                     double exponent, sdk::Random& ties);

}  // namespace prism::zipf
