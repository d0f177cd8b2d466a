// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "core/cli/plugin_commands.hpp"
#include "core/cli/plugin_describe.hpp"
#include "core/cli/plugin_probe.hpp"
#include "core/cli/plugin_search.hpp"

namespace prism::cli {
namespace {

const Usage kShow{"prism plugin show",
                  "ID|PATH [options]",
                  "What a plugin is, its options with their defaults, ranges and meaning, and how\n"
                  "an experiment file uses it. PATH, its folder or library, has a '/' in it.",
                  {"ID|PATH"},
                  with_search_flags({{"json", "", "for programs"}}),
                  "The plugin is loaded in a child process. Exit code: 0, or 3 when it cannot be "
                  "used."};

/// What is known without loading it.
std::string from_manifest(const plugin::Candidate& candidate, Description description) {
  return description == Description::Json ? describe_json(candidate, {})
                                          : describe_text(candidate, {});
}

int show(const Arguments& arguments) {
  const Result<plugin::SearchPath> path = search_path(arguments);
  if (!path.ok()) {
    return report_error(path.status());
  }
  Result<plugin::Candidate> found = find_plugin(arguments.at("ID|PATH"), *path);
  if (!found.ok()) {
    return report_error(found.status());
  }
  const Description description = arguments.has("json") ? Description::Json : Description::Text;
  if (found->state == plugin::State::Ok) {
    const Result<std::string> text = probe_plugin(*found, description, path->allow_insecure);
    if (text.ok()) {
      std::fputs(text->c_str(), stdout);
      return 0;
    }
    found->state = plugin::State::Broken;
    found->reason = text.status().message();
  }
  std::fputs(from_manifest(*found, description).c_str(), stdout);
  return plugin_error("").exit_code();
}

}  // namespace

Subcommand plugin_show_command() {
  return {&kShow, show};
}

}  // namespace prism::cli
