// SPDX-License-Identifier: Apache-2.0
/// Iterations of a trace that does not mark them: the period of what its ranks communicate.
#pragma once

#include <cstdint>

#include "core/calibrate/observation.hpp"

namespace prism::calibrate {

/// Numbers the iterations of all nodes where the communications of every rank (kind, communicator,
/// element type and size, in the order of the nodes) are the same sequence several times over, the
/// same number of times for all ranks: the largest such number. What comes after the last
/// communication of an iteration belongs to it as far as its last node of phase "optimizer".
/// Returns that number; 1, and nothing is changed, where there is no such period.
uint32_t number_iterations_by_period(Observation& observation);

}  // namespace prism::calibrate
