// SPDX-License-Identifier: Apache-2.0
/// What this process was given by the machine and its user.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace prism::cli {

/// Cores that this process may use, ascending; never empty.
std::vector<uint32_t> usable_cores();

/// This process' environment, with `added` put in or over it: "NAME=value", sorted by name.
std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& added);

}  // namespace prism::cli
