// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>

#include "core/base/text.hpp"
#include "core/calibrate/observation_file.hpp"
#include "core/cli/arguments.hpp"
#include "core/cli/commands.hpp"
#include "core/cli/plugin_search.hpp"
#include "core/cli/table.hpp"
#include "core/cli/trace_diff.hpp"
#include "core/cli/trace_info.hpp"
#include "core/cli/trace_input.hpp"
#include "core/config/classes.hpp"

namespace prism::cli {
namespace {

const Usage kInfo{
    "prism trace info",
    "FILE... [--format ID] [--option KEY=VALUE] [--json]",
    "Reads a trace of a real job, takes the waiting out of it, replays each "
    "iteration, and\nprints how well the replay reproduces what was observed, how much "
    "of the communication\nwas waiting, and whether replicas take equally long.",
    {},
    with_trace_flags({{"json", "", "for programs"}}),
    kTraceFiles,
    "FILE"};

const Usage kCheck{"prism trace check",
                   "FILE... [--format ID] [--option KEY=VALUE]",
                   "Whether a trace holds together: groups complete, messages matched, no circles, "
                   "iterations\nalike, replicas equally long. Exit code 1: not all of it does.",
                   {},
                   with_trace_flags({}),
                   kTraceFiles,
                   "FILE"};

const Usage kImport{"prism trace import",
                    "FILE... --output PATH.prism",
                    "Stores what a trace shows in a .prism file, waiting included.",
                    {},
                    with_trace_flags({{"output", "PATH", "the file to write"}}),
                    kTraceFiles,
                    "FILE"};

const Usage kCut{"prism trace cut",
                 "FILE... --ranks RANKS --output PATH.prism",
                 "Cuts a slice out of an observed trace: what some of its ranks did.",
                 {},
                 with_trace_flags({{"ranks", "RANKS", "\"0-3\", \"0,8\", ..."},
                                   {"output", "PATH", "the file to write"}}),
                 kTraceFiles,
                 "FILE"};

const Usage kExport{"prism trace export",
                    "FILE... --to ID --output PATH [--iteration N]",
                    "Writes the replay of one iteration in another format.",
                    {},
                    with_trace_flags({{"to", "ID", "the plugin that writes: perfetto, csv, ..."},
                                      {"output", "PATH", "the file or folder to write"},
                                      {"iteration", "N", "default: the first"}}),
                    kTraceFiles,
                    "FILE"};

// ---- info, check ----

Result<std::string> info_text(const Arguments& arguments) {
  PRISM_TRY_ASSIGN(calibrate::Calibrated calibrated, calibrated_input(arguments));
  PRISM_TRY_ASSIGN(const TraceInfo info, examine(std::move(calibrated)));
  return arguments.has("json") ? render_json(info) : render_text(info);
}

int info(const Arguments& arguments) {
  const Result<std::string> text = info_text(arguments);
  if (!text.ok()) {
    return report_error(text.status());
  }
  std::fputs(printable_lines(*text).c_str(), stdout);
  return 0;
}

int check(const Arguments& arguments) {
  // Groups, messages and circles: what they lack is an error of reading, calibrating and replaying.
  Result<calibrate::Calibrated> calibrated = calibrated_input(arguments);
  if (!calibrated.ok()) {
    return report_error(calibrated.status());
  }
  const Result<TraceInfo> info = examine(std::move(calibrated).value());
  if (!info.ok()) {
    return report_error(info.status());
  }
  const graph::Trace& trace = info->calibrated.trace;
  std::printf("groups complete, messages matched, no circles: %s replayed\n",
              count_of(info->samples.size(), "iteration").c_str());
  bool holds = true;
  for (size_t kind = 1; kind < trace.kinds.size(); ++kind) {
    holds = false;
    std::printf("not alike: %s; the first difference: %s\n",
                count_of(trace.kinds[kind].samples.size(), "iteration").c_str(),
                printable_lines(trace.kinds[kind].difference).c_str());
  }
  if (info->replicas.comparable() && !info->replicas.holds()) {
    holds = false;
    std::printf("replicas differ\n");
  }
  for (const std::string& sentence : info->replicas.in_words()) {
    std::printf("%s\n", printable_lines(sentence).c_str());
  }
  return holds ? 0 : 1;
}

// ---- import, cut ----

Status write_slice(const std::string& path, const calibrate::Observation& slice) {
  PRISM_TRY(calibrate::write_observation(path, slice));
  std::printf("%s: %s of %u, %s\n", printable_lines(path).c_str(),
              count_of(slice.ranks.size(), "rank").c_str(), slice.world_size,
              count_of(calibrate::Iterations(slice).numbers().size(), "iteration").c_str());
  return {};
}

Status write_import(const Arguments& arguments) {
  PRISM_TRY_ASSIGN(const std::string path, output_path(arguments));
  PRISM_TRY_ASSIGN(TraceInput input, read_input(arguments));
  if (input.trace) {
    return config_error("a calibrated trace has nothing to import");
  }
  PRISM_TRY_ASSIGN(const calibrate::Observation all, calibrate::unite(std::move(input.slices)));
  return write_slice(path, all);
}

Result<std::vector<Rank>> ranks_of(const Arguments& arguments, uint32_t world_size) {
  if (!arguments.has("ranks")) {
    return config_error("--ranks is missing");
  }
  std::vector<config::ClassProblem> problems;
  auto ranks = config::resolve_ranks(arguments.at("ranks"), world_size, problems);
  if (!ranks) {
    const config::ClassProblem& problem = problems.front();
    return config_error("--ranks: " + problem.message +
                        (problem.hint.empty() ? "" : "; " + problem.hint));
  }
  return *std::move(ranks);
}

Status write_cut(const Arguments& arguments) {
  PRISM_TRY_ASSIGN(const std::string path, output_path(arguments));
  PRISM_TRY_ASSIGN(TraceInput input, read_input(arguments));
  if (input.trace) {
    return config_error("a slice is cut out of what was observed, not of a calibrated trace");
  }
  PRISM_TRY_ASSIGN(calibrate::Observation all, calibrate::unite(std::move(input.slices)));
  PRISM_TRY_ASSIGN(const std::vector<Rank> ranks, ranks_of(arguments, all.world_size));
  PRISM_TRY(calibrate::keep_ranks(all, ranks).context("--ranks"));
  return write_slice(path, all);
}

// ---- export ----

struct Place {
  const graph::IterationKind* kind = nullptr;
  const graph::Sample* sample = nullptr;
};

Result<Place> chosen_iteration(const Arguments& arguments, const graph::Trace& trace) {
  std::vector<uint32_t> numbers;
  Place first;
  std::optional<int64_t> wanted;
  if (arguments.has("iteration")) {
    PRISM_TRY_ASSIGN(wanted,
                     integer_value(arguments, "iteration", 0, std::numeric_limits<int32_t>::max()));
  }
  for (const graph::IterationKind& kind : trace.kinds) {
    for (const graph::Sample& sample : kind.samples) {
      numbers.push_back(sample.iteration);
      const bool better =
          wanted ? int64_t{sample.iteration} == *wanted
                 : first.sample == nullptr || sample.iteration < first.sample->iteration;
      if (better && (first.sample == nullptr || !wanted)) {
        first = {&kind, &sample};
      }
    }
  }
  if (first.sample == nullptr) {
    if (numbers.empty()) {
      return config_error("the trace is a bare graph: it has no times that could be exported");
    }
    const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
    return config_error("--iteration: the trace shows iterations " + std::to_string(*least) +
                        " to " + std::to_string(*most));
  }
  return first;
}

Status write_export(const Arguments& arguments) {
  if (!arguments.has("to")) {
    return config_error("--to is missing");
  }
  PRISM_TRY_ASSIGN(const std::string path, output_path(arguments));
  PRISM_TRY_ASSIGN(const plugin::SearchPath search, search_path(arguments));
  plugin::Registry registry(search);
  PRISM_TRY_ASSIGN(const auto writer, open_format(registry, arguments.at("to"), {}));
  PRISM_TRY_ASSIGN(const calibrate::Calibrated calibrated, calibrated_input(arguments));
  PRISM_TRY_ASSIGN(const Place place, chosen_iteration(arguments, calibrated.trace));
  replay::ReplayOptions options;
  options.critical_path = false;
  for (Rank rank = 0; rank < place.kind->job.world_size; ++rank) {
    options.record.push_back(rank);
  }
  PRISM_TRY_ASSIGN(const replay::ReplayResult replayed,
                   replay::replay(place.kind->job, place.sample->times, options));
  return writer->export_trace(place.kind->job, replayed.recorded, place.sample->iteration, path);
}

int outcome(const Status& status) {
  return status.ok() ? 0 : report_error(status);
}
int import_trace(const Arguments& arguments) {
  return outcome(write_import(arguments));
}
int cut(const Arguments& arguments) {
  return outcome(write_cut(arguments));
}
int export_trace(const Arguments& arguments) {
  return outcome(write_export(arguments));
}

}  // namespace

int trace_command(const Words& words) {
  full_file_is_an_error();
  return run_subcommand("prism trace", words,
                        {{&kInfo, info},
                         {&kCheck, check},
                         {&kImport, import_trace},
                         {&kCut, cut},
                         {&kExport, export_trace},
                         {&kTraceDiff, trace_diff}});
}

}  // namespace prism::cli
