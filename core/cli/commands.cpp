// SPDX-License-Identifier: Apache-2.0
#include "core/cli/commands.hpp"

#include <cstdio>

#include "core/base/text.hpp"

namespace prism::cli {
int report_error(const Status& status) {
  // A configuration error is a whole report already, each line with its place in the file.
  const std::string text = status.to_string();
  const bool located = status.domain() == Domain::Config && text.find(": error: ") != text.npos;
  // What a job printed or raised is in it too: no control character reaches the terminal.
  std::fprintf(stderr, located ? "%s\n" : "prism: error: %s\n", printable_lines(text).c_str());
  return status.exit_code();
}

int run_parsed(const Usage& usage, const Words& words, int (*body)(const Arguments&)) {
  const Result<Arguments> arguments = parse_arguments(usage, words);
  if (!arguments.ok()) {
    return report_error(arguments.status());
  }
  if (arguments->help) {
    std::fputs(help_text(usage).c_str(), stdout);
    return 0;
  }
  return body(*arguments);
}

int run_subcommand(const std::string& command, const Words& words,
                   const std::vector<Subcommand>& subcommands) {
  std::string list;
  for (const Subcommand& subcommand : subcommands) {
    if (!words.empty() && command + " " + words.front() == subcommand.usage->command) {
      return run_parsed(*subcommand.usage, Words(words.begin() + 1, words.end()), subcommand.run);
    }
    if (subcommand.hidden) {
      continue;
    }
    list += "\n  " + subcommand.usage->command + " " + subcommand.usage->synopsis;
  }
  if (!words.empty() && (words.front() == "--help" || words.front() == "-h")) {
    std::printf("usage:%s\n", list.c_str());
    return 0;
  }
  return report_error(
      config_error((words.empty() ? "'" + command + "' needs a word more"
                                  : "'" + command + "' knows no '" + words.front() + "'") +
                   "\n  usage:" + list));
}

}  // namespace prism::cli
