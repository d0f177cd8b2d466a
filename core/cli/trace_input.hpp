// SPDX-License-Identifier: Apache-2.0
/// The traces that a command is given.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/status.hpp"
#include "core/calibrate/observation.hpp"
#include "core/cli/arguments.hpp"
#include "core/plugin/formats.hpp"
#include "core/plugin/registry.hpp"

namespace prism::cli {

/// --format, --option and the search flags.
std::vector<Flag> with_trace_flags(std::vector<Flag> own);

/// Loads a format plugin, after a trial in a process of its own. `options`: words KEY=VALUE, the
/// others have their defaults.
Result<std::unique_ptr<plugin::Format>> open_format(plugin::Registry& registry,
                                                    const std::string& id,
                                                    const std::vector<std::string>& options);

struct Imported {
  std::string format;  ///< id of the plugin that read it
  calibrate::Observation observation;
};

/// Imports the words of FILE: a path, or RANK=PATH. Without --format the installed formats are
/// asked whose file the first one is. Errors: none or several say that it is theirs; what the
/// importer says. Where the trace shows no iterations, all of it is one.
Result<Imported> import_trace(plugin::Registry& registry, const Arguments& arguments);

}  // namespace prism::cli
