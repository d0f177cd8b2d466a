// SPDX-License-Identifier: Apache-2.0
/// Whether two programs of one rank do the same: two iterations, or two recordings.
#pragma once

#include <string>

#include "core/graph/program.hpp"

namespace prism::graph {

/// Where `a` and `b`, both of one rank, first differ in lanes, nodes, edges, sizes, peers or
/// communicators: the node of each in words. Empty: nowhere. Times and labels are free.
std::string first_difference(const Program& a, const Program& b);

}  // namespace prism::graph
