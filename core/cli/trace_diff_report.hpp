// SPDX-License-Identifier: Apache-2.0
/// What `prism trace diff` has found, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "core/analysis/difference.hpp"

namespace prism::cli {

struct TraceDiff {
  bool between_traces = false;          ///< else between the replicas of `a`
  std::string a;                        ///< what the traces are, in words
  std::string b;                        ///< empty between replicas
  std::string difference;               ///< the first in structure; empty: none
  uint32_t difference_in = 0;           ///< iteration of `a`
  uint64_t iterations = 0;              ///< that were compared
  uint64_t surplus_iterations = 0;      ///< that only one of the traces has
  std::vector<std::vector<Rank>> like;  ///< between replicas: who is compared with whom
  analysis::Deviations deviations;
};

std::string render_text(const TraceDiff& diff);
/// docs/what-if.md describes it.
std::string render_json(const TraceDiff& diff);

}  // namespace prism::cli
