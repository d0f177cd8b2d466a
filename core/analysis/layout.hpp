// SPDX-License-Identifier: Apache-2.0
/// Where each rank stands in the job: its pipeline stage, its replica, and which ranks do the same
/// as it does. Found from the structure alone, and from what communicators are called.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/job.hpp"

namespace prism::analysis {

/// **Like ranks** are of one stage and communicate alike: on each lane the same communications one
/// after the other, by kind, name, element type, size in bytes (of all-to-all, whose sizes follow
/// the data, not), backend and size of the group, and messages to peers at the same distance in the
/// group. What they compute need not be equal to the node: profiles of two ranks never are. Members
/// of a class are like.
///
/// **Stage**: ranks that are linked by messages form a chain. Where the communicators of all
/// messages of a chain are called "pipeline" or "pp" and have one list of ranks, the stage is the
/// place in that list (messages of other communicators, of context parallelism say, are then not
/// looked at). Else the chain begins with the rank to which nobody sends its first message, and in
/// a circle with the lowest of those that send before they receive; each next stage is the rank to
/// which the one before sends first. Ranks without messages, and what forms no chain, have none.
///
/// **Replica**: in a job of classes the place of the rank in its class. Else its place in its
/// largest communicator of like ranks that is called "data parallel" or "dp" and not "expert", if
/// every rank has one; else its place among its like ranks.
struct Layout {
  std::vector<int32_t> stage;     ///< by rank; -1: none
  std::vector<uint32_t> replica;  ///< by rank
  uint32_t stages = 0;            ///< 0: there is no pipeline
  uint32_t replicas = 0;
  std::vector<std::vector<Rank>> like;  ///< groups of like ranks, each ascending
  std::vector<uint32_t> like_of;        ///< by rank: index into `like`
  std::string stages_from;              ///< how they were found, in words
  std::string replicas_from;
};

/// Time: O(nodes of all classes + ranks x communicators).
Layout layout_of(const graph::Job& job);

}  // namespace prism::analysis
