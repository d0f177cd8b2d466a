// SPDX-License-Identifier: Apache-2.0
#include "core/graph/trace.hpp"

#include <algorithm>
#include <numeric>

namespace prism::graph {

std::vector<uint32_t> counted_iterations(const IterationKind& kind) {
  if (!kind.counted.empty()) {
    return kind.counted;
  }
  uint32_t iterations = 1;
  for (const Class& c : kind.job.classes) {
    iterations = std::max(iterations, c.program.iterations);
  }
  std::vector<uint32_t> all(iterations);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

}  // namespace prism::graph
