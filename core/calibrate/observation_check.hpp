// SPDX-License-Identifier: Apache-2.0
/// Whether an observation that ObservationBuilder did not make is one that it could have made.
#pragma once

#include <string>

#include "core/base/status.hpp"
#include "core/calibrate/observation.hpp"

namespace prism::calibrate {

/// Every index, spans that end after they start and follow one another on their lane, sequence
/// numbers that rise, ranks that ascend; not all need be there. `where` begins all messages.
Status check_observation(const Observation& observation, const std::string& where);

}  // namespace prism::calibrate
