// SPDX-License-Identifier: Apache-2.0
/// A trace of other tools: it has no lanes, times in microseconds or none, process groups by name.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/formats/chakra/counts.hpp"
#include "plugins/formats/chakra/order.hpp"
#include "plugins/formats/chakra/records.hpp"
#include "prism/sdk/format.hpp"

namespace prism::chakra {

/// What all files of an import have in common.
struct Job {
  std::vector<uint32_t> ranks;  ///< of all files, ascending
  std::vector<Group> groups;    ///< that the user told
};

/// Whether nodes tell when they started.
bool has_start_times(const RankTrace& trace);

/// Tells the sink, at which the rank has begun, of all nodes. Throws INVALID_ARGUMENT.
void tell_foreign(const RankTrace& trace, const Needs& needs, uint32_t rank, const Job& job,
                  sdk::TraceSink& sink, Counts& counts);

}  // namespace prism::chakra
