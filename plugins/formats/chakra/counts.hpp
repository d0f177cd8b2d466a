// SPDX-License-Identifier: Apache-2.0
/// What the user should know about an import, counted over all files.
#pragma once

#include <cstdint>

#include "prism/sdk/format.hpp"

namespace prism::chakra {

struct Counts {
  uint64_t without_times = 0;   ///< files
  uint64_t without_caller = 0;  ///< dependencies
  uint64_t against_order = 0;   ///< dependencies
  uint64_t contradicting = 0;   ///< dependencies
  uint64_t overlapping = 0;     ///< nodes
  uint64_t memory = 0;
  uint64_t invalid = 0;
  uint64_t without_peer = 0;
  uint64_t without_size = 0;
  uint64_t without_root = 0;
  uint64_t some_dimensions = 0;
  uint64_t unreadable_groups = 0;
};

void tell(const Counts& counts, sdk::TraceSink& sink);

}  // namespace prism::chakra
