// SPDX-License-Identifier: Apache-2.0
/// The subcommands of `prism plugin`, one file each.
#pragma once

#include "core/cli/commands.hpp"

namespace prism::cli {

Subcommand plugin_list_command();   ///< plugin_list.cpp
Subcommand plugin_show_command();   ///< plugin_show.cpp
Subcommand plugin_new_command();    ///< plugin_new.cpp
Subcommand plugin_probe_command();  ///< plugin_probe.cpp

}  // namespace prism::cli
