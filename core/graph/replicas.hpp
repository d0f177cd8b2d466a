// SPDX-License-Identifier: Apache-2.0
/// Which ranks of a job do the same work: those whose times could be shared.
#pragma once

#include <vector>

#include "core/graph/job.hpp"

namespace prism::graph {

/// Groups of ranks of equal structure: the same nodes on the same lanes, with the same edges and
/// sizes, on communicators of the same description and size; names, members, peers and times are
/// free. Ranks of one class are in one group. Each rank is in one group; groups and members
/// ascend. Node n of one member corresponds to node n of the others.
std::vector<std::vector<Rank>> replicas_of(const Job& job);

}  // namespace prism::graph
