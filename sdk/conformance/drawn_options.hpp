// SPDX-License-Identifier: Apache-2.0
/// Values of options that nobody has written down: most mistakes hide behind those.
#pragma once

#include <string>
#include <vector>

#include "prism/abi/option.h"
#include "prism/sdk/random.hpp"

namespace prism::conformance {

/// Puts other values into `values`, those of `table`: within the bounds, from the choices. An
/// option without either keeps its value. Returns what was put in, as "spread = 7, mode = 'odd'".
std::string draw_options(const prism_option_table_t& table,
                         std::vector<prism_option_value_t>& values, sdk::Random& random);

}  // namespace prism::conformance
