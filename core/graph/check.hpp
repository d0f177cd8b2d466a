// SPDX-License-Identifier: Apache-2.0
/// Whether the ranks of a job fit together.
#pragma once

#include <string>
#include <vector>

#include "core/base/status.hpp"
#include "core/graph/job.hpp"

namespace prism::graph {

/// Checks that all members of a communicator have the same collectives (the n-th of each member:
/// kind, root, reduction, element type, sizes) and that every send has its recv (size, element
/// type). The first error names both ranks, their lanes and nodes. What only the order of events
/// shows, ranks that wait for each other in a circle, is found by the replay.
/// Time and memory: ranks x communicators, and the nodes of each pair of classes that meet.
///
/// What the members of an all-to-all put in comes out. Where ranks of one class meet ranks of
/// another (one rank has the hot experts) it need not add up: each is taken to send and get what
/// its representative does. That is no error; it is said in `notes`, which may be nullptr.
Status check(const Job& job, std::vector<std::string>* notes = nullptr);

}  // namespace prism::graph
