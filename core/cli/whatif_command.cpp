// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include "core/analysis/attribution.hpp"
#include "core/analysis/edit.hpp"
#include "core/analysis/outcome.hpp"
#include "core/base/statistics.hpp"
#include "core/base/text.hpp"
#include "core/cli/analysed_trace.hpp"
#include "core/cli/arguments.hpp"
#include "core/cli/commands.hpp"
#include "core/cli/trace_input.hpp"
#include "core/cli/whatif_report.hpp"

namespace prism::cli {
namespace {

using analysis::Edit;
using analysis::Operation;

const Usage kWhatIf{
    "prism whatif",
    "FILE... [--scale TEXT] [--set TEXT] [--link TEXT] [--level TEXT] [--iteration N|all] [--json]",
    "Replays a trace with other times, and says who is responsible for how much of an iteration.",
    {},
    with_trace_flags(
        {{"scale", "TEXT", "'SELECTOR factor=F': the selected take F times as long", true},
         {"set", "TEXT", "'SELECTOR duration=D': each of the selected takes D", true},
         {"link", "TEXT",
          "'SELECTOR latency=L bandwidth=B': the selected transfers use such a link", true},
         {"level", "TEXT",
          "'SELECTOR [peers=replicas|stages|calls]': the selected take the median of their peers",
          true},
         {"iteration", "N|all", "iterations that are looked at; default: all"},
         {"json", "", "for programs"}}),
    "Edits apply in the order of the command line. A SELECTOR is made of words that must all "
    "hold:\n"
    "  rank=0-7,16  rank=\"rank % 8 == 3\"  stage=2  replica=1  iteration=3\n"
    "  kind=compute|all_reduce|...|communication|gap  name=TEXT  phase=TEXT  label=TEXT\n"
    "  micro_batch=0  chunk=0  layer=0  lane=TEXT  communicator=TEXT\n"
    "TEXT may have the wildcards * and ?. docs/what-if.md tells more.\n"
    "FILE: a .prism file, or a trace of another kind (prism trace info --help).",
    "FILE"};

std::optional<Operation> operation_of(const std::string& flag) {
  if (flag == "scale") {
    return Operation::Scale;
  }
  if (flag == "set") {
    return Operation::Set;
  }
  if (flag == "link") {
    return Operation::Link;
  }
  if (flag == "level") {
    return Operation::Level;
  }
  return std::nullopt;
}

Result<std::vector<Edit>> edits_of(const Arguments& arguments) {
  std::vector<Edit> edits;
  for (const auto& [flag, text] : arguments.in_order) {
    if (const std::optional<Operation> operation = operation_of(flag)) {
      PRISM_TRY_ASSIGN(Edit edit, Edit::parse(*operation, text));
      edits.push_back(std::move(edit));
    }
  }
  return edits;
}

Result<std::vector<std::vector<DurationNs>>> times_of(const std::vector<analysis::Run>& runs) {
  std::vector<std::vector<DurationNs>> times;
  times.reserve(runs.size());
  for (const analysis::Run& run : runs) {
    PRISM_TRY_ASSIGN(std::vector<DurationNs> its, analysis::iteration_times(run, run.times));
    times.push_back(std::move(its));
  }
  return times;
}

std::vector<DurationNs> joined(const std::vector<std::vector<DurationNs>>& lists) {
  std::vector<DurationNs> all;
  for (const std::vector<DurationNs>& list : lists) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

/// The run and the iteration of its job whose time is nearest to the median.
std::pair<size_t, uint32_t> median_iteration(const std::vector<analysis::Run>& runs,
                                             const std::vector<std::vector<DurationNs>>& times) {
  const DurationNs median = spread_of(joined(times)).median;
  std::pair<size_t, uint32_t> nearest;
  std::optional<DurationNs> distance;
  for (size_t r = 0; r < runs.size(); ++r) {
    for (size_t i = 0; i < runs[r].counted.size(); ++i) {
      const DurationNs its = std::abs(times[r][i] - median);
      if (!distance || its < *distance) {
        distance = its;
        nearest = {r, runs[r].counted[i]};
      }
    }
  }
  return nearest;
}

Result<std::string> whatif_text(const Arguments& arguments) {
  PRISM_TRY_ASSIGN(const std::vector<Edit> edits, edits_of(arguments));
  PRISM_TRY_ASSIGN(AnalysedTrace trace, analysed_trace(arguments, arguments.all("FILE")));
  PRISM_TRY(keep_iteration(trace, arguments));
  WhatIf report;
  report.trace = &trace;
  std::vector<analysis::Run> edited_runs = trace.runs;
  for (const Edit& edit : edits) {
    AppliedEdit applied{edit.option().option(), edit.option().text(), {}};
    for (analysis::Run& run : edited_runs) {
      PRISM_TRY_ASSIGN(const analysis::Edited edited,
                       edit.apply(*run.subject, run.iteration, run.times));
      applied.edited.selected += edited.selected;
      applied.edited.changed += edited.changed;
      applied.edited.sizeless += edited.sizeless;
    }
    PRISM_TRY(edit.check_effect(applied.edited, *edited_runs.front().subject,
                                edited_runs.front().iteration));
    report.edits.push_back(std::move(applied));
  }
  PRISM_TRY_ASSIGN(const auto before, times_of(trace.runs));
  PRISM_TRY_ASSIGN(const auto after, times_of(edited_runs));
  report.before = joined(before);
  report.after = joined(after);
  const auto [run, iteration] = median_iteration(trace.runs, before);
  PRISM_TRY_ASSIGN(report.path_before,
                   analysis::path_summary(trace.runs[run], trace.runs[run].times, iteration));
  PRISM_TRY_ASSIGN(report.path_after,
                   analysis::path_summary(edited_runs[run], edited_runs[run].times, iteration));
  PRISM_TRY_ASSIGN(report.attribution, analysis::attribute(edited_runs, after));
  return arguments.has("json") ? render_json(report) : render_text(report);
}

int whatif(const Arguments& arguments) {
  const Result<std::string> text = whatif_text(arguments);
  if (!text.ok()) {
    return report_error(text.status());
  }
  std::fputs(printable_lines(*text).c_str(), stdout);
  return 0;
}

}  // namespace

int whatif_command(const Words& words) {
  return run_parsed(kWhatIf, words, whatif);
}

}  // namespace prism::cli
