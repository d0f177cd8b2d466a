// SPDX-License-Identifier: Apache-2.0
/// What a plugin says of itself, asked in a process of its own (plugin_trial.hpp).
#pragma once

#include <string>

#include "core/base/status.hpp"
#include "core/plugin/discovery.hpp"

namespace prism::cli {

enum class Description { Text, Json };

/// Loads, initialises and ends the plugin in a child process; returns how it describes itself
/// (plugin_describe.hpp). `candidate` must be Ok. Errors (Domain::Plugin): what loading it says, or
/// how the child ended.
Result<std::string> probe_plugin(const plugin::Candidate& candidate, Description description,
                                 bool allow_insecure);

}  // namespace prism::cli
