// SPDX-License-Identifier: Apache-2.0
/// The stages of `prism run`: collect, predict, report.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/status.hpp"
#include "core/cli/progress.hpp"
#include "core/cli/report.hpp"
#include "core/cli/run_dir.hpp"
#include "core/config/experiment.hpp"
#include "core/config/plugin_options.hpp"
#include "core/plugin/registry.hpp"
#include "core/schedule/collect.hpp"
#include "core/schedule/process.hpp"
#include "core/schedule/reference.hpp"
#include "prism/link/link.hpp"
#include "prism/wire/agent.hpp"

namespace prism::cli {

/// An experiment with its plugins, its run directory and its environment.
class ExperimentRun {
 public:
  /// Loads and checks plugins and their options, locks the run directory, asks the runtime what is
  /// there. `interrupt_fd`: see CoordinatorOptions.
  static Result<std::unique_ptr<ExperimentRun>> open(config::Experiment experiment,
                                                     plugin::SearchPath plugins, int interrupt_fd);

  /// Records what is not recorded yet (all of it when `fresh`) and replays the job; writes
  /// metrics.json. `verify_ranks`: also runs and predicts the job at that many ranks.
  Result<RunReport> execute(bool fresh, std::optional<uint32_t> verify_ranks);

 private:
  /// The job at some world size.
  struct World {
    uint32_t size = 0;
    config::Classes classes;
    uint32_t check_replicas = 0;
    uint32_t repeats = 1;
    std::vector<std::string> args;
    config::StringPairs env;
    std::string folder;
    std::vector<uint32_t> pin_to;   ///< cores of the ranks; none: any
    std::vector<link::Link> links;  ///< by repeat, in place of those of the experiment; or none
  };

  ExperimentRun(config::Experiment experiment, plugin::SearchPath plugins, RunDir run_dir,
                int interrupt_fd);
  Result<config::PluginOptions> plugin_options(std::string_view id, std::string_view interface);
  /// Whether they are there, by their manifests.
  Status find_plugins() const;
  /// Does what load_plugins() does, and ends the plugins, in a child process first: one that
  /// crashes, hangs or ends the process there is named. All else is told by load_plugins().
  Status try_plugins();
  Status load_plugins();
  Status open_plugins();
  Status open_rank_plugins();
  Result<schedule::Collected> collect(const World& world, bool fresh);
  Result<RunReport> predict(const World& world, bool fresh);
  Status write_timeline_of(const World& world, const graph::Trace& trace, RunReport& report) const;
  Result<Verification> verify(uint32_t ranks);
  World world_to_verify(uint32_t ranks) const;
  Result<schedule::MeasuredLink> measure_link(const World& world);
  /// One run of the job for real: its iterations that count.
  Result<schedule::ReferenceRun> run_for_real(const World& world);
  Result<std::unique_ptr<schedule::Launcher>> open_launcher();
  schedule::ProcessLimits limits() const;

  config::Experiment experiment_;
  RunDir run_dir_;
  int interrupt_fd_;
  std::unique_ptr<plugin::Registry> registry_;  // outlives what was made with it
  std::unique_ptr<schedule::Runtime> runtime_;
  std::optional<config::PluginOptions> launcher_options_;
  std::vector<wire::SourceRule> rules_;
  std::optional<wire::Plugin> router_;
  std::string versions_;
  ProgressLine progress_;
};

}  // namespace prism::cli
