// SPDX-License-Identifier: Apache-2.0
/// Plugins' C tables as the abstract interfaces of core/schedule. Thread: [control].
///
/// Every error begins with the plugin and its function: "plugin 'local' (libprism_local.so 0.1.0):
/// open(): ...". FAILED_PRECONDITION from open() and probe() is the machine's fault
/// (Domain::Environment, exit code 4). INVALID_ARGUMENT and NOT_FOUND from open() are the fault of
/// the options' values (exit code 2), other failures of open() the plugin's, those of the other
/// functions the run's.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "core/base/status.hpp"
#include "core/plugin/registry.hpp"
#include "core/schedule/launcher.hpp"
#include "core/schedule/runtime.hpp"
#include "prism/abi/option.h"

namespace prism::plugin {

/// Values for a plugin's options, one per row of its table, in its order (prism/abi/option.h).
using OptionValues = std::span<const prism_option_value_t>;

/// The options of the plugin's interface ("prism.launcher/1", "prism.router/1"), for validating
/// and documenting them. Valid until the process ends. Rows are `stride` bytes apart.
Result<prism_option_table_t> options(Registry& registry, std::string_view id,
                                     std::string_view interface);

/// Loads the plugin and opens a session; destroying the result closes it, which must happen before
/// registry.shutdown().
Result<std::unique_ptr<schedule::Launcher>> open_launcher(Registry& registry, std::string_view id,
                                                          OptionValues values);
Result<std::unique_ptr<schedule::Runtime>> open_runtime(Registry& registry, std::string_view id,
                                                        OptionValues values);

}  // namespace prism::plugin
