// SPDX-License-Identifier: Apache-2.0
#include "core/cli/commands.hpp"
#include "core/cli/plugin_commands.hpp"

namespace prism::cli {

int plugin_command(const Words& words) {
  return run_subcommand("prism plugin", words,
                        {plugin_list_command(), plugin_show_command(), plugin_new_command(),
                         plugin_check_command(), plugin_child_command()});
}

}  // namespace prism::cli
