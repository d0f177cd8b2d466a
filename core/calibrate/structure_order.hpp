// SPDX-License-Identifier: Apache-2.0
/// An order of nodes that follows from the structure alone.
#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/program.hpp"

namespace prism::calibrate {

/// The nodes `ids` (ascending) of a program, so that iterations of equal structure come out equal
/// however the nodes of their lanes lay in time: lane after lane, each as far as it gets without
/// nodes of other lanes that have not had their turn. A node comes after its lane predecessor, its
/// dependencies among `ids`, and the nodes before it on its communicators.
std::vector<uint32_t> structure_order(const graph::Program& program,
                                      const std::vector<uint32_t>& ids);

/// The nodes `order` of a program, numbered anew in that order, which their lanes and dependencies
/// must allow. Dependencies on others are left out.
graph::Program selected(const graph::Program& program, const std::vector<uint32_t>& order);

/// All of a program in its structure_order.
graph::Program in_structure_order(const graph::Program& program);

}  // namespace prism::calibrate
