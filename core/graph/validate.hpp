// SPDX-License-Identifier: Apache-2.0
/// Whether a Program is well-formed by itself: what all later steps rely on.
#pragma once

#include "core/base/status.hpp"
#include "core/graph/program.hpp"

namespace prism::graph {

/// Checks every index, that nodes come after what they depend on (a cycle inside a rank is printed
/// as a chain of lanes and nodes), that the collectives of a communicator are numbered from 0, that
/// roots and peers are group positions, that durations are not negative.
Status validate(const Program& program);

}  // namespace prism::graph
