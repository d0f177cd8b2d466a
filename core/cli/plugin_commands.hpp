// SPDX-License-Identifier: Apache-2.0
/// The subcommands of `prism plugin`, one file each.
#pragma once

#include "core/cli/commands.hpp"

namespace prism::cli {

Subcommand plugin_list_command();   ///< plugin_list.cpp
Subcommand plugin_show_command();   ///< plugin_show.cpp
Subcommand plugin_new_command();    ///< plugin_new.cpp
Subcommand plugin_check_command();  ///< plugin_check.cpp
Subcommand plugin_child_command();  ///< plugin_check_child.cpp

}  // namespace prism::cli
