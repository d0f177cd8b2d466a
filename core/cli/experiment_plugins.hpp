// SPDX-License-Identifier: Apache-2.0
/// The plugins that an experiment names, before it uses them.
#pragma once

#include <vector>

#include "core/base/status.hpp"
#include "core/config/experiment.hpp"
#include "core/plugin/discovery.hpp"
#include "core/plugin/registry.hpp"

namespace prism::cli {

/// By their manifests, none is loaded. Adds to `diagnostics`: plugins that are not there, are of
/// another kind or cannot be used, at the place that names them, and options for plugins that the
/// experiment does not use. `candidates`: all plugins of the search path. Make `diagnostics` from
/// experiment.document->source.
void check_plugins(const config::Experiment& experiment,
                   const std::vector<plugin::Candidate>& candidates,
                   config::Diagnostics& diagnostics);

/// Loads each plugin of the experiment in a child process: one that crashes, hangs or ends the
/// process is named, and takes down only that.
Status try_plugins(const config::Experiment& experiment, const plugin::Registry& registry);

/// Loads the plugins, after try_plugins(), and adds to `diagnostics` what they do not accept of
/// their options. Errors: a plugin that cannot be used.
Status check_plugin_options(const config::Experiment& experiment, plugin::Registry& registry,
                            config::Diagnostics& diagnostics);

}  // namespace prism::cli
