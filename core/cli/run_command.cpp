// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "core/base/log.hpp"
#include "core/cli/arguments.hpp"
#include "core/cli/commands.hpp"
#include "core/cli/experiment_run.hpp"
#include "core/cli/interrupt.hpp"
#include "core/cli/plugin_search.hpp"

namespace prism::cli {
namespace {

const Usage kRun{
    "prism run",
    "EXPERIMENT [options]",
    "Records the ranks of the job that EXPERIMENT (a TOML file) describes, each alone, replays "
    "the\n"
    "whole job on a virtual clock and prints its iteration time. Results are in the run directory.",
    {"EXPERIMENT"},
    with_search_flags(
        {{"verify", "N", "also run the job for real with N ranks (torchrun), and predict those"},
         {"fresh", "", "record again what is recorded and still current"},
         {"json", "", "print metrics.json in place of the tables"},
         {"verbose", "", "keep debug messages in prism.log"}}),
    "What was recorded is kept and used again while script, arguments, environment and versions\n"
    "stay the same: to try another link, edit [link.default] and run again."};

int run(const Arguments& arguments) {
  if (arguments.has("verbose")) {
    log::set_level(log::Level::Debug);
  }
  std::optional<uint32_t> verify;
  if (arguments.has("verify")) {
    constexpr int64_t kMostRanks = 4096;
    const Result<int64_t> ranks = integer_value(arguments, "verify", 1, kMostRanks);
    if (!ranks.ok()) {
      return report_error(ranks.status());
    }
    verify = static_cast<uint32_t>(*ranks);
  }
  config::LoadResult loaded = config::load_experiment(arguments.at("EXPERIMENT"));
  if (!loaded.experiment) {
    std::fputs(loaded.diagnostics.text().c_str(), stderr);
    return 2;
  }
  Result<plugin::SearchPath> plugins = search_path(arguments, loaded.experiment->plugins.paths);
  if (!plugins.ok()) {
    return report_error(plugins.status());
  }
  const Result<std::unique_ptr<ExperimentRun>> opened =
      ExperimentRun::open(std::move(*loaded.experiment), *std::move(plugins), catch_interrupts());
  if (!opened.ok()) {
    return report_error(opened.status());
  }
  const Result<RunReport> report = (*opened)->execute(arguments.has("fresh"), verify);
  if (!report.ok()) {
    return report_error(report.status());
  }
  std::fputs((arguments.has("json") ? render_metrics(*report) : render_text(*report)).c_str(),
             stdout);
  return interrupted() ? 130 : 0;
}

}  // namespace

int run_command(const Words& words) {
  return run_parsed(kRun, words, run);
}

}  // namespace prism::cli
