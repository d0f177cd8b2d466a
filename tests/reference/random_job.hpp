// SPDX-License-Identifier: Apache-2.0
/// Small random jobs of every kind, for the comparison of engine and reference interpreter.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/graph/job.hpp"
#include "prism/link/link.hpp"

namespace prism::reference {

struct RandomJob {
  std::vector<std::vector<Rank>> classes;
  std::vector<graph::Program> programs;
  uint32_t world_size = 0;
  uint64_t eager_bytes = 0;
  /// By description of the communicator; empty: durations are random instead.
  std::map<std::string, link::Link> links;
  bool damaged = false;  ///< some ranks do things in another order, or not at all
};

/// The same for the same seed and number, everywhere. All operations in the same order on all ranks
/// unless `damaged`.
RandomJob random_job(uint64_t seed, uint32_t most_ranks = 12);

}  // namespace prism::reference
