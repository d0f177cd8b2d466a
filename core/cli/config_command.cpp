// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "core/cli/arguments.hpp"
#include "core/cli/commands.hpp"
#include "core/config/experiment.hpp"
#include "core/config/reference.hpp"

namespace prism::cli {
namespace {

const Usage kCheck{"prism config check",
                   "FILE [--format text|json]",
                   "Says everything that is wrong in an experiment file; silent when nothing is.",
                   {"FILE"},
                   {{"format", "F", "text (default) or json"}},
                   "Exit code: 0 when nothing is wrong, else 2. The codes are in docs/errors.md."};
const Usage kShow{"prism config show",
                  "FILE",
                  "Prints the effective experiment, with the origin of each value.",
                  {"FILE"},
                  {},
                  ""};

const Usage kReference{"prism config reference",
                       "",
                       "Prints the reference page of the experiment file, as Markdown.",
                       {},
                       {},
                       ""};

int check(const Arguments& arguments) {
  const std::string format = arguments.has("format") ? arguments.at("format") : "text";
  if (format != "text" && format != "json") {
    return report_error(config_error("--format takes text or json, not '" + format + "'"));
  }
  const config::Diagnostics diagnostics = config::check_file(arguments.at("FILE"));
  if (format == "json") {
    std::printf("%s\n", diagnostics.json().c_str());
  } else {
    std::fputs(diagnostics.text().c_str(), stderr);
  }
  return diagnostics.empty() ? 0 : 2;
}

int show(const Arguments& arguments) {
  const config::LoadResult loaded = config::load_experiment(arguments.at("FILE"));
  if (!loaded.experiment) {
    std::fputs(loaded.diagnostics.text().c_str(), stderr);
    return 2;
  }
  std::fputs(config::render_effective(*loaded.experiment).c_str(), stdout);
  return 0;
}

int reference(const Arguments& /*arguments*/) {
  std::fputs(config::reference_page().c_str(), stdout);
  return 0;
}

}  // namespace

int config_command(const Words& words) {
  return run_subcommand("prism config", words,
                        {{&kCheck, check}, {&kShow, show}, {&kReference, reference}});
}

}  // namespace prism::cli
