// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "core/cli/arguments.hpp"
#include "core/cli/commands.hpp"
#include "core/cli/experiment_plugins.hpp"
#include "core/cli/plugin_search.hpp"
#include "core/config/experiment.hpp"
#include "core/config/reference.hpp"
#include "core/plugin/registry.hpp"

namespace prism::cli {
namespace {

const Usage kCheck{
    "prism config check",
    "FILE [--format text|json]",
    "Says everything that is wrong in an experiment file; silent when nothing is.\n"
    "Plugins are looked up by their manifests; no code of theirs runs without --load.",
    {"FILE"},
    with_search_flags({{"format", "F", "text (default) or json"},
                       {"load", "", "also load the plugins and check their options"}}),
    "Exit code: 0 when nothing is wrong, else 2, or 3 when --load shows a plugin that "
    "cannot be used.\nThe codes are in docs/errors.md."};
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

Status look_at_plugins(const config::Experiment& experiment, const Arguments& arguments,
                       config::Diagnostics& diagnostics) {
  PRISM_TRY_ASSIGN(plugin::SearchPath path, search_path(arguments, experiment.plugins.paths));
  plugin::Registry registry(std::move(path));
  check_plugins(experiment, registry.list(), diagnostics);
  if (!diagnostics.empty() || !arguments.has("load")) {
    return {};
  }
  PRISM_TRY(try_plugins(experiment, registry));
  return check_plugin_options(experiment, registry, diagnostics);
}

int check(const Arguments& arguments) {
  const std::string format = arguments.has("format") ? arguments.at("format") : "text";
  if (format != "text" && format != "json") {
    return report_error(config_error("--format takes text or json, not '" + format + "'"));
  }
  config::LoadResult loaded = config::load_experiment(arguments.at("FILE"));
  config::Diagnostics& diagnostics = loaded.diagnostics;
  if (loaded.experiment) {
    diagnostics = config::Diagnostics(loaded.experiment->document->source);
    const Status plugins = look_at_plugins(*loaded.experiment, arguments, diagnostics);
    if (!plugins.ok()) {
      return report_error(plugins);
    }
  }
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
