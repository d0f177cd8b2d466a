// SPDX-License-Identifier: Apache-2.0
/// The commands of the program. Each takes the words after its name and returns the exit code.
#pragma once

#include <string>
#include <vector>

#include "core/base/status.hpp"
#include "core/cli/arguments.hpp"

namespace prism::cli {

using Words = std::vector<std::string>;

int run_command(const Words& words);        ///< prism run EXPERIMENT
int config_command(const Words& words);     ///< prism config check|show|reference
int plugin_command(const Words& words);     ///< prism plugin list|show|new
int trace_command(const Words& words);      ///< prism trace info|check|import|cut|export|diff
int calibrate_command(const Words& words);  ///< prism calibrate FILE...
int predict_command(const Words& words);    ///< prism predict FILE...
int whatif_command(const Words& words);     ///< prism whatif FILE...
int doctor_command(const Words& words);     ///< prism doctor

/// A word after the command, what it understands and what it does.
struct Subcommand {
  const Usage* usage;
  int (*run)(const Arguments&);
  bool hidden = false;  ///< only Prism itself runs it
};
/// Runs the subcommand that the first word names, or prints help or an error.
int run_subcommand(const std::string& command, const Words& words,
                   const std::vector<Subcommand>& subcommands);
/// Parses the words and runs `body`, or prints help or an error.
int run_parsed(const Usage& usage, const Words& words, int (*body)(const Arguments&));

/// Prints "prism: error: ..." and returns the status' exit code.
int report_error(const Status& status);

}  // namespace prism::cli
