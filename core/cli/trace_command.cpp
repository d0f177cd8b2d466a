// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "core/cli/arguments.hpp"
#include "core/cli/commands.hpp"
#include "core/cli/plugin_search.hpp"
#include "core/cli/trace_info.hpp"
#include "core/cli/trace_input.hpp"

namespace prism::cli {
namespace {

constexpr const char* kFiles =
    "FILE: a trace; RANK=FILE where it does not say of which rank it is. A trace of several files\n"
    "is given with all of them.";

const Usage kInfo{"prism trace info",
                  "FILE... [--format ID] [--option KEY=VALUE] [--json]",
                  "Reads a trace of a real job, takes the waiting out of it, replays each "
                  "iteration, and\nprints how well the replay reproduces what was observed.",
                  {},
                  with_trace_flags({{"json", "", "for programs"}}),
                  kFiles,
                  "FILE"};

const Usage kExport{"prism trace export",
                    "FILE... --to ID --output PATH [--iteration N]",
                    "Writes the replay of one iteration in another format.",
                    {},
                    with_trace_flags({{"to", "ID", "the plugin that writes: perfetto, csv, ..."},
                                      {"output", "PATH", "the file to write"},
                                      {"iteration", "N", "default: the first"}}),
                    kFiles,
                    "FILE"};

Result<std::string> info_text(const Arguments& arguments) {
  PRISM_TRY_ASSIGN(const plugin::SearchPath path, search_path(arguments));
  plugin::Registry registry(path);
  PRISM_TRY_ASSIGN(const Imported imported, import_trace(registry, arguments));
  TraceInfo info{imported.format, &imported.observation, {}};
  for (const uint32_t iteration : calibrate::iterations_of(imported.observation)) {
    replay::ReplayOptions options;
    options.critical_path = false;
    options.top_waits = graph::kNone;
    PRISM_TRY_ASSIGN(ReplayedIteration replayed,
                     replay_iteration(imported.observation, iteration, options));
    info.iterations.push_back(std::move(replayed));
  }
  return arguments.has("json") ? render_json(info) : render_text(info);
}

int info(const Arguments& arguments) {
  const Result<std::string> text = info_text(arguments);
  if (!text.ok()) {
    return report_error(text.status());
  }
  std::fputs(text->c_str(), stdout);
  return 0;
}

Status write_export(const Arguments& arguments) {
  for (const char* needed : {"to", "output"}) {
    if (!arguments.has(needed)) {
      return config_error(std::string("--") + needed + " is missing");
    }
  }
  for (const std::string& file : arguments.all("FILE")) {
    std::error_code error;
    if (std::filesystem::equivalent(file, arguments.at("output"), error)) {
      return config_error("--output would replace the trace '" + file + "'");
    }
  }
  PRISM_TRY_ASSIGN(const plugin::SearchPath path, search_path(arguments));
  plugin::Registry registry(path);
  PRISM_TRY_ASSIGN(const auto writer, open_format(registry, arguments.at("to"), {}));
  PRISM_TRY_ASSIGN(const Imported imported, import_trace(registry, arguments));
  const std::vector<uint32_t> iterations = calibrate::iterations_of(imported.observation);
  uint32_t iteration = iterations.front();
  if (arguments.has("iteration")) {
    PRISM_TRY_ASSIGN(const int64_t wanted,
                     integer_value(arguments, "iteration", 0, std::numeric_limits<int32_t>::max()));
    iteration = static_cast<uint32_t>(wanted);
    if (!std::binary_search(iterations.begin(), iterations.end(), iteration)) {
      return config_error("--iteration: the trace shows iterations " +
                          std::to_string(iterations.front()) + " to " +
                          std::to_string(iterations.back()));
    }
  }
  replay::ReplayOptions options;
  options.critical_path = false;
  for (Rank rank = 0; rank < imported.observation.world_size; ++rank) {
    options.record.push_back(rank);
  }
  PRISM_TRY_ASSIGN(const ReplayedIteration replayed,
                   replay_iteration(imported.observation, iteration, options));
  return writer->export_trace(replayed.calibrated.job, replayed.replayed.recorded, iteration,
                              arguments.at("output"));
}

int export_trace(const Arguments& arguments) {
  const Status status = write_export(arguments);
  return status.ok() ? 0 : report_error(status);
}

}  // namespace

int trace_command(const Words& words) {
  return run_subcommand("prism trace", words, {{&kInfo, info}, {&kExport, export_trace}});
}

}  // namespace prism::cli
