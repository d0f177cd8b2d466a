// SPDX-License-Identifier: Apache-2.0
#include "core/cli/experiment_run.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <sched.h>
#include <set>
#include <unistd.h>
#include <utility>

#include "core/base/file.hpp"
#include "core/base/log.hpp"
#include "core/cli/environment.hpp"
#include "core/cli/experiment_plugins.hpp"
#include "core/cli/plugin_trial.hpp"
#include "core/cli/table.hpp"
#include "core/cli/timeline.hpp"
#include "core/graph/check.hpp"
#include "core/graph/difference.hpp"
#include "core/graph/job.hpp"
#include "core/graph/timing.hpp"
#include "core/graph/trace_file.hpp"
#include "core/plugin/adapters.hpp"
#include "core/plugin/rank_plugins.hpp"
#include "prism/abi/draft/launcher.h"
#include "prism/abi/draft/runtime.h"
#include "prism/abi/router.h"
#include "prism/abi/tensor_source.h"

namespace prism::cli {
namespace {

/// One core for each rank that runs at a time; cores are shared when there are more ranks.
std::vector<uint32_t> cores_for(uint32_t slots) {
  std::vector<uint32_t> usable = usable_cores();
  if (slots == 0) {
    return usable;
  }
  std::vector<uint32_t> cores;
  for (uint32_t slot = 0; slot < slots; ++slot) {
    cores.push_back(usable[slot % usable.size()]);
  }
  return cores;
}

/// Variables whose change makes recordings stale.
bool decides_results(std::string_view variable) {
  for (const std::string_view prefix : {"PATH=", "PYTHON", "LD_LIBRARY_PATH=", "OMP_", "MKL_",
                                        "OPENBLAS_", "TORCH", "PYTORCH", "CUDA_", "NCCL_"}) {
    if (variable.substr(0, prefix.size()) == prefix) {
      return true;
    }
  }
  return false;
}

graph::LinkChooser link_chooser(const config::Experiment& experiment) {
  return [&experiment](const graph::Communicator& communicator) {
    const config::Link* chosen =
        config::choose_link(experiment, communicator.backend, communicator.description);
    link::Link link;
    if (chosen != nullptr) {
      link.latency_ns = chosen->latency;
      link.bandwidth_Bps = static_cast<uint64_t>(chosen->bandwidth);
      link.per_message_ns = chosen->per_message;
      link.reduce_bandwidth_Bps = static_cast<uint64_t>(chosen->reduce_bandwidth.value_or(0));
      link.copy_bandwidth_Bps = static_cast<uint64_t>(chosen->copy_bandwidth.value_or(0));
    }
    return link;
  };
}

graph::LinkChooser same_link(const link::Link& link) {
  return [link](const graph::Communicator&) { return link; };
}

/// The iterations whose times count, and what has to be said about the others.
struct Counted {
  std::vector<uint32_t> iterations;
  std::vector<std::string> notes;
};

Result<Counted> choose_iterations(const schedule::Collected& collected, uint32_t warmup) {
  const schedule::RecordedRank& first = collected.classes.front().repeats.front();
  const uint32_t training = first.training_iterations;
  for (const schedule::CollectedClass& c : collected.classes) {
    for (const schedule::RecordedRank& recorded : c.repeats) {
      if (recorded.training_iterations != training) {
        return run_error(
            "rank " + std::to_string(first.program.rank) + " ran " +
            count_of(training, "iteration") + ", rank " + std::to_string(recorded.program.rank) +
            " " + std::to_string(recorded.training_iterations) +
            "; an iteration ends with the last optimizer step before the next forward");
      }
    }
  }
  Counted counted;
  if (!first.has_optimizer) {
    counted.iterations = {1};
    counted.notes.push_back(
        "no optimizer step was seen, so the whole program counts as one iteration, its start "
        "included");
    return counted;
  }
  if (training <= warmup) {
    return run_error("the script ran " + count_of(training, "iteration") +
                     ", of which [time] warmup_iterations = " + std::to_string(warmup) +
                     " leaves none: let it run more, or lower warmup_iterations");
  }
  // Iterations of one kind have the same communications on every rank, of whatever sizes; the most
  // frequent kind counts, of equally frequent ones that with the last iteration.
  std::map<std::vector<uint64_t>, std::vector<uint32_t>> kinds;
  for (uint32_t iteration = warmup + 1; iteration <= training; ++iteration) {
    std::vector<uint64_t> shape;
    for (const schedule::CollectedClass& c : collected.classes) {
      for (const schedule::RecordedRank& recorded : c.repeats) {
        shape.push_back(recorded.iteration_shape[iteration]);
      }
    }
    kinds[shape].push_back(iteration);
  }
  const auto most = std::max_element(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.size(), a.second.back()) <
           std::pair(b.second.size(), b.second.back());
  });
  counted.iterations = most->second;
  // Alike in all but sizes (experts get other numbers of tokens in each step): they all count.
  std::set<std::vector<uint64_t>> amounts;
  for (const uint32_t iteration : counted.iterations) {
    std::vector<uint64_t> bytes;
    for (const schedule::CollectedClass& c : collected.classes) {
      bytes.push_back(c.repeats.front().iteration_bytes[iteration]);
    }
    amounts.insert(std::move(bytes));
  }
  if (amounts.size() > 1) {
    counted.notes.push_back("the iterations that count communicate " +
                            std::to_string(amounts.size()) +
                            " different amounts of data; the interval holds the difference");
  }
  const size_t others = training - warmup - counted.iterations.size();
  if (others > 0) {
    const std::string of = "of " + count_of(training - warmup, "iteration") + " ";
    counted.notes.push_back(counted.iterations.size() > 1
                                ? of + std::to_string(others) +
                                      " communicate differently from the others and are left out"
                                : of + "no two communicate alike: iteration " +
                                      std::to_string(counted.iterations.front()) +
                                      " alone counts, and there is no interval");
  }
  return counted;
}

/// Whether the rank got a value that this rule may have given. An agent tells which tensor source
/// made a value, not which rule asked for it: of two rules that differ in dtype, shape or call
/// alone both count as used.
bool may_have_used(const schedule::RecordedRank& recorded, const wire::SourceRule& rule) {
  if (rule.ranks && std::find(rule.ranks->begin(), rule.ranks->end(), recorded.program.rank) ==
                        rule.ranks->end()) {
    return false;
  }
  return std::any_of(
      recorded.made_up.begin(), recorded.made_up.end(), [&](const schedule::MadeUpCount& made_up) {
        return made_up.source == rule.source.id &&
               (!rule.kind || made_up.operation == graph::to_string(graph::Kind{*rule.kind})) &&
               (!rule.group || made_up.communicator == *rule.group);
      });
}

/// A rule that nothing came of is mostly a mistake in it.
void note_unused_rules(const schedule::Collected& collected,
                       const std::vector<wire::SourceRule>& rules,
                       std::vector<std::string>& notes) {
  for (const wire::SourceRule& rule : rules) {
    const auto uses = [&](const schedule::RecordedRank& recorded) {
      return may_have_used(recorded, rule);
    };
    const bool used = std::any_of(collected.classes.begin(), collected.classes.end(),
                                  [&](const schedule::CollectedClass& c) {
                                    return std::any_of(c.repeats.begin(), c.repeats.end(), uses) ||
                                           std::any_of(c.checks.begin(), c.checks.end(), uses);
                                  });
    if (!used) {
      notes.push_back(rule.place +
                      ": this [[collect.rule]] matched nothing that the ranks which "
                      "were run received");
    }
  }
}

void add_made_up(std::vector<schedule::MadeUpCount>& total,
                 const std::vector<schedule::MadeUpCount>& more) {
  for (const schedule::MadeUpCount& one : more) {
    const auto same = std::find_if(total.begin(), total.end(), [&one](const auto& t) {
      return t.communicator == one.communicator && t.operation == one.operation &&
             t.source == one.source;
    });
    if (same == total.end()) {
      total.push_back(one);
    } else {
      same->operations += one.operations;
      same->bytes += one.bytes;
    }
  }
}

ClassReport describe_class(const schedule::CollectedClass& collected, size_t members) {
  const schedule::RecordedRank& first = collected.repeats.front();
  ClassReport report;
  report.representative = first.program.rank;
  report.members = static_cast<uint32_t>(members);
  report.runs = static_cast<uint32_t>(collected.repeats.size());
  for (const schedule::RecordedRank& check : collected.checks) {
    report.checked.push_back(check.program.rank);
  }
  report.communications = first.communications;
  report.training_iterations = first.training_iterations;
  report.agent_cost_ns = first.agent_cost_ns;
  DurationNs compute = 0;
  DurationNs cpu = 0;
  for (const schedule::RecordedRank& recorded : collected.repeats) {
    compute += recorded.compute_ns;
    cpu += recorded.compute_cpu_ns;
  }
  report.cpu_share = compute > 0 ? static_cast<double>(cpu) / static_cast<double>(compute) : 1;
  return report;
}

/// Shards of different size communicate alike where the framework pads them, and compute other
/// things.
Status compare_optimizers(const schedule::RecordedRank& first, Rank first_rank,
                          const schedule::RecordedRank& check) {
  const auto list = [](const schedule::RecordedRank& recorded) {
    std::string text;
    for (const std::string& optimizer : recorded.optimizers) {
      text += (text.empty() ? "" : ", ") + optimizer;
    }
    return text.empty() ? "none" : text;
  };
  if (first.optimizers == check.optimizers) {
    return {};
  }
  return run_error("ranks " + std::to_string(first_rank) + " and " +
                   std::to_string(check.program.rank) +
                   " are in one class but do not have the same parameters: the "
                   "optimizers of the former are " +
                   list(first) + ", those of the latter " + list(check) +
                   "; put them into different classes, or use classes = \"none\"");
}

/// One more run of the job: a sample of the kind that does the same, or of one more.
void add_repeat(graph::Trace& trace, graph::Job job, uint32_t repeat,
                const std::vector<uint32_t>& counted) {
  graph::Sample sample;
  sample.repeat = repeat;
  sample.times.set_of = job.class_of;
  for (const graph::Class& c : job.classes) {
    sample.times.sets.push_back(graph::columns_of(c.program, nullptr));
  }
  std::string difference;
  for (graph::IterationKind& kind : trace.kinds) {
    std::string found;
    for (size_t c = 0; c < job.classes.size() && found.empty(); ++c) {
      found = graph::first_difference(kind.job.classes[c].program, job.classes[c].program);
      found =
          found.empty() ? "" : "rank " + std::to_string(job.classes[c].program.rank) + ", " + found;
    }
    if (found.empty()) {
      kind.samples.push_back(std::move(sample));
      return;
    }
    difference = difference.empty() ? std::move(found) : std::move(difference);
  }
  trace.kinds.push_back({std::move(job), {}, counted, std::move(difference)});
  trace.kinds.back().samples.push_back(std::move(sample));
}

/// The representative of a class was measured, the others share its times.
std::vector<Rank> times_from(const graph::Job& job) {
  std::vector<Rank> from(job.world_size);
  for (Rank rank = 0; rank < job.world_size; ++rank) {
    from[rank] = job.representative(rank);
  }
  return from;
}

/// Durations are those of the clock on the wall, so they hold only where ranks had their cores.
void note_busy_machine(RunReport& report) {
  constexpr double kUndisturbed = 0.9;
  const auto least = std::min_element(
      report.classes.begin(), report.classes.end(),
      [](const ClassReport& a, const ClassReport& b) { return a.cpu_share < b.cpu_share; });
  if (least->cpu_share < kUndisturbed) {
    report.notes.push_back("rank " + std::to_string(least->representative) + " ran for only " +
                           format_percent(least->cpu_share) +
                           " of its compute time: the job sleeps, or this machine is busy with "
                           "something else and the prediction is too high");
  }
}

}  // namespace

ExperimentRun::ExperimentRun(config::Experiment experiment, plugin::SearchPath plugins,
                             RunDir run_dir, int interrupt_fd)
    : experiment_(std::move(experiment)),
      run_dir_(std::move(run_dir)),
      interrupt_fd_(interrupt_fd),
      registry_(std::make_unique<plugin::Registry>(std::move(plugins))) {}

Result<std::unique_ptr<ExperimentRun>> ExperimentRun::open(config::Experiment experiment,
                                                           plugin::SearchPath plugins,
                                                           int interrupt_fd) {
  PRISM_TRY_ASSIGN(RunDir run_dir, RunDir::open(experiment.run_dir));
  std::unique_ptr<ExperimentRun> run(new ExperimentRun(std::move(experiment), std::move(plugins),
                                                       std::move(run_dir), interrupt_fd));
  PRISM_TRY(run->open_plugins());
  PRISM_TRY(write_file_atomically(run->run_dir_.file("experiment.lock.toml"),
                                  config::render_effective(run->experiment_)));
  return run;
}

Result<config::PluginOptions> ExperimentRun::plugin_options(std::string_view id,
                                                            std::string_view interface) {
  PRISM_TRY_ASSIGN(const prism_option_table_t table, plugin::options(*registry_, id, interface));
  config::Diagnostics diagnostics(experiment_.document->source);
  auto options = config::validate_plugin_options(experiment_, id, table, diagnostics);
  if (!options.ok() && !diagnostics.empty()) {
    return diagnostics.status();
  }
  return options;
}

Status ExperimentRun::find_plugins() const {
  config::Diagnostics diagnostics(experiment_.document->source);
  const std::vector<plugin::Candidate> candidates = registry_->list();
  check_plugins(experiment_, candidates, diagnostics);
  const auto is_plugin = [](const config::Diagnostic& d) {
    return d.code == config::ErrorCode::Plugin;
  };
  if (std::none_of(diagnostics.shown().begin(), diagnostics.shown().end(), is_plugin)) {
    return diagnostics.status();
  }
  return plugin_error(diagnostics.text() + registry_->places(candidates), Code::NotFound);
}

Status ExperimentRun::try_plugins() {
  constexpr std::chrono::seconds kTimeout{20};
  auto tried = try_in_child("a plugin of this experiment", kTimeout, [this] {
    if (load_plugins().ok()) {
      open_launcher().ok();
    }
    runtime_.reset();
    registry_->shutdown();
    return std::string();
  });
  return tried.ok() ? Status()
                    : std::move(tried).status().context(
                          "trying the plugins of this experiment in a process of their own");
}

Status ExperimentRun::load_plugins() {
  const config::Experiment::Plugins& plugins = experiment_.plugins;
  PRISM_TRY_ASSIGN(launcher_options_, plugin_options(plugins.launcher, PRISM_LAUNCHER_1));
  PRISM_TRY_ASSIGN(const config::PluginOptions runtime_options,
                   plugin_options(plugins.runtime, PRISM_RUNTIME_1));
  PRISM_TRY_ASSIGN(runtime_,
                   plugin::open_runtime(*registry_, plugins.runtime, runtime_options.abi()));
  return open_rank_plugins();
}

Status ExperimentRun::open_plugins() {
  PRISM_TRY(find_plugins());
  PRISM_TRY(try_plugins());
  PRISM_TRY(load_plugins());
  PRISM_TRY_ASSIGN(const std::string found, runtime_->probe(environment_with(experiment_.job.env)));
  versions_ = "prism=" PRISM_VERSION "\n";
  for (const std::string& id : {experiment_.plugins.launcher, experiment_.plugins.runtime}) {
    PRISM_TRY_ASSIGN(const plugin::LoadedPlugin* loaded, registry_->load(id));
    versions_ += "plugin " + id + "=" + loaded->manifest().version + "\n";
  }
  versions_ += found;
  return {};
}

Status ExperimentRun::open_rank_plugins() {
  if (const std::optional<std::string>& id = experiment_.plugins.router) {
    PRISM_TRY_ASSIGN(const config::PluginOptions options, plugin_options(*id, PRISM_ROUTER_1));
    PRISM_TRY_ASSIGN(router_, plugin::router_for_ranks(*registry_, *id, options.abi()));
  }
  for (const config::CollectRule& rule : experiment_.collect.rules) {
    const std::string place = experiment_.file + ":" + std::to_string(rule.line);
    const std::string doing = place + ": [[collect.rule]]";
    PRISM_TRY_ASSIGN(
        const prism_option_table_t table,
        plugin::options(*registry_, rule.source, PRISM_TENSOR_SOURCE_1).context(doing));
    config::Diagnostics diagnostics(experiment_.document->source);
    PRISM_TRY_ASSIGN(const config::PluginOptions options,
                     config::validate_source_options(experiment_, rule, table, diagnostics));
    PRISM_TRY_ASSIGN(
        wire::Plugin source,
        plugin::tensor_source_for_ranks(*registry_, rule.source, options.abi()).context(doing));
    rules_.push_back({.place = place,
                      .kind = rule.kind,
                      .group = rule.group,
                      .dtype = rule.dtype,
                      .ranks = rule.ranks,
                      .shape = rule.shape,
                      .call = rule.call,
                      .source = std::move(source)});
  }
  return {};
}

Result<schedule::Collected> ExperimentRun::collect(const World& world, bool fresh) {
  schedule::CollectJob job;
  job.world_size = world.size;
  job.classes = world.classes;
  job.check_replicas = world.check_replicas;
  job.repeats = world.repeats;
  job.seed = experiment_.seed;
  job.script = experiment_.job.script;
  job.args = world.args;
  job.env = environment_with(world.env);
  for (const auto& [name, value] : world.env) {
    job.key_env.push_back(name + "=" + value);
  }
  std::copy_if(job.env.begin(), job.env.end(), std::back_inserter(job.key_env), decides_results);
  job.cwd = experiment_.job.cwd;
  job.inputs = experiment_.job.inputs;
  job.run_dir = world.folder;
  for (const config::EffectiveValue& value : experiment_.effective) {
    if (value.table == "plugins.options." + config::write_key(experiment_.plugins.runtime)) {
      job.options.push_back(value.key + " = " + value.toml);
    }
  }
  job.rules = rules_;
  job.router = router_;
  job.versions = versions_;
  job.fresh = fresh;
  job.pin_to = world.pin_to;

  schedule::CoordinatorOptions options;
  // Ranks that are held against real ones run at once, as those do, however many slots there are.
  options.cores = world.pin_to.empty() ? cores_for(experiment_.collect.slots) : world.pin_to;
  options.timeout = std::chrono::nanoseconds(experiment_.collect.timeout);
  options.interrupt_fd = interrupt_fd_;

  const std::string of_world = " of " + std::to_string(world.size);
  uint64_t finished = 0;
  schedule::Progress progress;
  progress.started = [&](const schedule::RankRun& run) {
    progress_.now("rank " + std::to_string(run.spec.rank) + of_world + ": started");
  };
  progress.advanced = [&](const schedule::RankRun& run, uint64_t communications) {
    progress_.now("rank " + std::to_string(run.spec.rank) + of_world + ": " +
                  count_of(communications, "communication") + "; " + count_of(finished, "run") +
                  " done");
  };
  progress.finished = [&](const schedule::RankRun& run) {
    ++finished;
    progress_.step("rank " + std::to_string(run.spec.rank) + of_world + ": recorded" +
                   (run.repeat > 1 ? " (repeat " + std::to_string(run.repeat) + ")" : ""));
  };
  auto collected = schedule::collect(
      job, [this] { return open_launcher(); }, *runtime_, options, progress);
  progress_.clear();
  return collected;
}

Result<std::unique_ptr<schedule::Launcher>> ExperimentRun::open_launcher() {
  PRISM_TRY_ASSIGN(
      std::unique_ptr<schedule::Launcher> launcher,
      plugin::open_launcher(*registry_, experiment_.plugins.launcher, launcher_options_->abi()));
  log::info("ranks run under: " + launcher->describe());
  return launcher;
}

schedule::ProcessLimits ExperimentRun::limits() const {
  schedule::ProcessLimits limits;
  limits.interrupt_fd = interrupt_fd_;
  limits.timeout = std::chrono::nanoseconds(experiment_.collect.timeout);
  return limits;
}

Result<RunReport> ExperimentRun::predict(const World& world, bool fresh) {
  PRISM_TRY_ASSIGN(schedule::Collected collected, collect(world, fresh));
  RunReport report;
  report.world_size = world.size;
  report.executed = collected.executed;
  report.reused = collected.reused;
  for (size_t c = 0; c < collected.classes.size(); ++c) {
    const schedule::RecordedRank& first = collected.classes[c].repeats.front();
    if (world.size > 1 && first.program.communicators.empty()) {
      return run_error("rank " + std::to_string(first.program.rank) +
                       " ended without ever calling torch.distributed.init_process_group: there is "
                       "no job of " +
                       std::to_string(world.size) + " ranks to predict");
    }
    report.classes.push_back(describe_class(collected.classes[c], world.classes[c].size()));
    add_made_up(report.made_up, first.made_up);
    ++report.made_up_ranks;
    for (const schedule::RecordedRank& check : collected.classes[c].checks) {
      add_made_up(report.made_up, check.made_up);
      ++report.made_up_ranks;
    }
  }
  note_busy_machine(report);
  note_unused_rules(collected, rules_, report.notes);
  PRISM_TRY_ASSIGN(Counted counted,
                   choose_iterations(collected, experiment_.time.warmup_iterations));
  report.notes.insert(report.notes.end(), counted.notes.begin(), counted.notes.end());

  graph::Trace trace;
  trace.origin = "recorded job";
  const size_t repeats = collected.classes.front().repeats.size();
  for (size_t repeat = 0; repeat < repeats; ++repeat) {
    std::vector<graph::Program> programs;
    for (schedule::CollectedClass& c : collected.classes) {
      programs.push_back(std::move(c.repeats[repeat].program));
    }
    PRISM_TRY_ASSIGN(graph::Job job,
                     graph::instantiate(world.size, world.classes, std::move(programs)));
    if (repeat == 0) {
      for (size_t c = 0; c < collected.classes.size(); ++c) {
        for (const schedule::RecordedRank& check : collected.classes[c].checks) {
          PRISM_TRY(compare_optimizers(collected.classes[c].repeats.front(),
                                       report.classes[c].representative, check));
          PRISM_TRY(graph::compare_structure(job, check.program));
        }
      }
      PRISM_TRY(graph::check(job, &report.notes)
                    .context("the ranks of this job do not fit together; ranks that do different "
                             "things belong "
                             "into classes of their own ([parallel] classes)"));
    }
    graph::apply_links(
        job, world.links.empty() ? link_chooser(experiment_) : same_link(world.links.at(repeat)));
    if (experiment_.predict.compute_scale != 1.0) {
      graph::scale_compute(job, experiment_.predict.compute_scale);
    }
    add_repeat(trace, std::move(job), static_cast<uint32_t>(repeat), counted.iterations);
  }
  PRISM_TRY_ASSIGN(report.prediction, replay::predict(trace));
  trace.notes = report.notes;
  trace.times_from = times_from(trace.kinds.front().job);
  PRISM_TRY(graph::write_trace(world.folder + "/calibrated.prism", trace));
  PRISM_TRY(write_timeline_of(world, trace, report));
  return report;
}

Status ExperimentRun::write_timeline_of(const World& world, const graph::Trace& trace,
                                        RunReport& report) const {
  if (experiment_.report.timeline_ranks == 0) {
    return {};
  }
  // The iteration of the first repeat that lies nearest to the median.
  const auto off = [&report](size_t i) {
    return std::abs(report.prediction.iteration_times[i] - report.prediction.iteration_time.median);
  };
  const graph::IterationKind& kind = trace.kinds.front();
  size_t nearest = 0;
  for (size_t i = 1; i < kind.counted.size(); ++i) {
    nearest = off(i) < off(nearest) ? i : nearest;
  }
  TimelineOptions options;
  options.iteration = kind.counted[nearest];
  options.max_ranks = experiment_.report.timeline_ranks;
  PRISM_TRY_ASSIGN(const TimelineSummary timeline,
                   write_timeline(world.folder + "/timeline.json", kind.job, options));
  report.timeline_ranks = timeline.ranks;
  report.timeline_iteration = options.iteration;
  return {};
}

Result<RunReport> ExperimentRun::execute(bool fresh, std::optional<uint32_t> verify_ranks) {
  World world;
  world.size = experiment_.parallel.world_size;
  world.classes = experiment_.parallel.classes;
  world.check_replicas = experiment_.parallel.check_replicas;
  world.repeats = experiment_.time.repeats;
  world.args = experiment_.job.args;
  world.env = experiment_.job.env;
  world.folder = run_dir_.path();
  PRISM_TRY_ASSIGN(RunReport report, predict(world, fresh));
  report.name = experiment_.name;
  report.run_dir = run_dir_.path();
  report.versions = versions_;
  if (verify_ranks) {
    PRISM_TRY_ASSIGN(report.verification, verify(*verify_ranks));
    if (auto note = note_taken_cores(*report.verification)) {
      report.notes.push_back(std::move(*note));
    }
  }
  PRISM_TRY(write_file_atomically(run_dir_.file("metrics.json"), render_metrics(report)));
  return report;
}

}  // namespace prism::cli
