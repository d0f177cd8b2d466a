// SPDX-License-Identifier: Apache-2.0
/// The commands of the program. Each takes the words after its name and returns the exit code.
#pragma once

#include <string>
#include <vector>

#include "core/base/status.hpp"

namespace prism::cli {

using Words = std::vector<std::string>;

int run_command(const Words& words);     ///< prism run EXPERIMENT
int config_command(const Words& words);  ///< prism config check|show FILE
int plugin_command(const Words& words);  ///< prism plugin list
int doctor_command(const Words& words);  ///< prism doctor

/// Prints "prism: error: ..." and returns the status' exit code.
int report_error(const Status& status);

}  // namespace prism::cli
