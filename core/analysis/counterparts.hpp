// SPDX-License-Identifier: Apache-2.0
/// Which node of one rank is the same piece of work as which node of another.
#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/program.hpp"

namespace prism::analysis {

/// What makes two nodes the same piece of work at different ranks: kind (of the parts, too), name,
/// micro-batch, chunk and layer. A hash; equal where these are.
std::vector<uint64_t> tokens_of(const graph::Program& program);

/// Places (i, j) of a longest common subsequence of `a` and `b`, ascending (E. Myers, "An O(ND)
/// difference algorithm and its variations", 1986). Where more than `kMostEdits` entries would have
/// to be left out, the n-th of a value belongs to the n-th of that value instead, and the pairs
/// need not ascend in j.
inline constexpr int32_t kMostEdits = 2000;
std::vector<std::pair<uint32_t, uint32_t>> common(const std::vector<uint64_t>& a,
                                                  const std::vector<uint64_t>& b);

/// By node of `other`: the node of `first` that corresponds to it, or kNone. Lanes of one kind are
/// put together by what they have in common, the most first (threads have other numbers in each
/// process), and along a lane the nodes by `common`.
std::vector<uint32_t> counterparts(const graph::Program& first, const graph::Program& other);

}  // namespace prism::analysis
