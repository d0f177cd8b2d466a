// SPDX-License-Identifier: Apache-2.0
/// Which ranks of a job do the same work: those whose times could be shared.
#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/job.hpp"

namespace prism::graph {

/// Each rank is in one group, in which node n of one member corresponds to node n of the others.
struct Replicas {
  std::vector<std::vector<Rank>> groups;
  std::vector<uint32_t> group_of;  ///< by rank
  std::vector<uint32_t> place_of;  ///< by rank: in its group
};

/// Of a job with classes of several ranks: its classes. Of one in which each rank is a class of its
/// own, as a trace shows it: ranks of equal structure, which have the same nodes on the same lanes,
/// with the same edges and sizes, on communicators of the same description and size; names,
/// members, peers and times are free. Groups and members ascend then.
Replicas replicas_of(const Job& job);

}  // namespace prism::graph
