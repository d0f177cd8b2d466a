// SPDX-License-Identifier: Apache-2.0
/// `prism run --verify N`. What a machine gives to its guests and programs changes from minute to
/// minute. So measurements of the link, recordings and real runs take turns, on the same cores, and
/// all rounds are pooled, each predicted with its own link.
#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/base/file.hpp"
#include "core/cli/environment.hpp"
#include "core/cli/experiment_run.hpp"
#include "core/cli/table.hpp"
#include "core/schedule/core_usage.hpp"

namespace prism::cli {
namespace {

/// Of one round the two sides are of two different moments, and nothing tells.
constexpr uint32_t kFewestRounds = 2;

/// The cores that ranks run on: rank r on the core r modulo their number.
std::vector<uint32_t> cores_of(const std::vector<uint32_t>& pin_to, uint32_t ranks) {
  const size_t used = std::min<size_t>(ranks, pin_to.size());
  return {pin_to.begin(), pin_to.begin() + static_cast<std::ptrdiff_t>(used)};
}

/// Adds to `total` what became of the cores while `work` was done.
template <typename Work>
auto watched(const std::vector<uint32_t>& cores, schedule::CoreUsage& total, const Work& work)
    -> decltype(work()) {
  PRISM_TRY_ASSIGN(const schedule::CoreWatch watch, schedule::CoreWatch::start(cores));
  auto result = work();
  if (result.ok()) {
    PRISM_TRY_ASSIGN(const schedule::CoreUsage usage, watch.usage());
    total += usage;
  }
  return result;
}

}  // namespace

ExperimentRun::World ExperimentRun::world_to_verify(uint32_t ranks) const {
  World world;
  world.size = ranks;
  for (Rank rank = 0; rank < ranks; ++rank) {
    world.classes.push_back({rank});
  }
  world.args = experiment_.job.args;
  world.env = experiment_.job.env;
  const auto shape = experiment_.verify.find(ranks);
  if (shape != experiment_.verify.end()) {
    world.args = shape->second.args.value_or(world.args);
    world.env.insert(world.env.end(), shape->second.env.begin(), shape->second.env.end());
  }
  world.folder = run_dir_.file("verify." + std::to_string(ranks));
  world.pin_to = usable_cores();
  return world;
}

Result<schedule::MeasuredLink> ExperimentRun::measure_link(const World& world) {
  progress_.now("measuring gloo between two processes of this machine");
  PRISM_TRY_ASSIGN(const std::unique_ptr<schedule::Launcher> launcher, open_launcher());
  return schedule::measure_link(*launcher, *runtime_, world.pin_to[0],
                                world.pin_to[1 % world.pin_to.size()], environment_with(world.env),
                                world.folder, limits());
}

Result<schedule::ReferenceRun> ExperimentRun::run_for_real(const World& world) {
  schedule::ReferenceSpec spec;
  spec.world_size = world.size;
  spec.cores = world.pin_to;
  spec.script = experiment_.job.script;
  for (const std::string& argument : world.args) {
    spec.args.push_back(config::substitute_placeholders(argument, world.size, 0));
  }
  spec.env = environment_with(world.env);
  PRISM_TRY_ASSIGN(const std::unique_ptr<schedule::Launcher> launcher, open_launcher());
  auto run = schedule::run_reference(*launcher, *runtime_, spec, world.folder, experiment_.job.cwd,
                                     limits());
  if (!run.ok()) {
    return std::move(run).status().context("running the job for real, " +
                                           count_of(world.size, "rank") + " under torchrun on " +
                                           count_of(world.pin_to.size(), "core"));
  }
  const auto warmup =
      std::min<size_t>(experiment_.time.warmup_iterations, run->iteration_times.size());
  run->iteration_times.erase(run->iteration_times.begin(),
                             run->iteration_times.begin() + static_cast<std::ptrdiff_t>(warmup));
  return run;
}

Result<Verification> ExperimentRun::verify(uint32_t ranks) {
  World world = world_to_verify(ranks);
  const auto shape = experiment_.verify.find(ranks);
  Verification verification;
  verification.world_size = ranks;
  verification.args_given = shape != experiment_.verify.end() && shape->second.args.has_value();
  // Recorded anew: what is there may be of a machine that was busier.
  std::error_code ignored;
  std::filesystem::remove_all(world.folder + "/ranks", ignored);
  PRISM_TRY(make_folders(world.folder));

  const uint32_t rounds = std::max(kFewestRounds, experiment_.time.repeats);
  const std::string predicting = "predicting the job at " + count_of(ranks, "rank");
  const std::vector<uint32_t> cores = cores_of(world.pin_to, ranks);
  std::vector<DurationNs> measured;
  for (uint32_t round = 1; round <= rounds; ++round) {
    PRISM_TRY_ASSIGN(const schedule::MeasuredLink link, measure_link(world));
    verification.links.push_back(link.medians());
    world.repeats = round;  // those of earlier rounds are there
    auto recorded = watched(cores, verification.while_recorded,
                            [&] { return collect(world, /*fresh=*/false); });
    if (!recorded.ok()) {
      return std::move(recorded).status().context(predicting);
    }
    PRISM_TRY_ASSIGN(const schedule::ReferenceRun real,
                     watched(cores, verification.while_real, [&] { return run_for_real(world); }));
    verification.late_aborts += real.late_aborts;
    measured.insert(measured.end(), real.iteration_times.begin(), real.iteration_times.end());
    progress_.step(count_of(ranks, "rank") + " for real: measured" +
                   (round > 1 ? " (repeat " + std::to_string(round) + ")" : ""));
  }
  world.links = verification.links;
  auto report = predict(world, /*fresh=*/false);
  if (!report.ok()) {
    return std::move(report).status().context(predicting);
  }
  if (measured.empty()) {
    return run_error("the job at " + count_of(ranks, "rank") +
                     " ran no iteration beyond [time] warmup_iterations = " +
                     std::to_string(experiment_.time.warmup_iterations));
  }
  verification.measured = spread_of(measured);
  verification.predicted = report->prediction.iteration_time;
  return verification;
}

}  // namespace prism::cli
