// SPDX-License-Identifier: Apache-2.0
/// Ranks that were not measured get the times of a replica that was (paper 5.3).
#pragma once

#include <vector>

#include "core/graph/trace.hpp"

namespace prism::calibrate {

struct Coverage {
  std::vector<Rank> measured;  ///< ascending, as the others
  std::vector<Rank> shared;
  std::vector<Rank> missing;  ///< no rank of their structure was measured
};

/// Gives each rank without times those of a measured one of its structure (graph::replicas_of), in
/// each sample that has them; where several were measured, they take turns. Sets
/// Trace::times_from. The times of ranks that stay without any are those of their programs.
Coverage share_times(graph::Trace& trace);

}  // namespace prism::calibrate
