// SPDX-License-Identifier: Apache-2.0
#include "core/schedule/reference.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "core/base/file.hpp"
#include "core/schedule/iterations.hpp"
#include "core/schedule/log_tail.hpp"
#include "core/schedule/recording.hpp"

namespace prism::schedule {
namespace {

constexpr uint64_t kMaxLog = uint64_t{1} << 30;
constexpr size_t kTailLines = 25;

uint64_t size_of_files(const std::string& folder) {
  uint64_t sum = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const uint64_t size = entry.file_size(ignored);
    sum += ignored ? 0 : size;
  }
  return sum;
}

/// Starts the command with its output in `folder` and waits for its end.
Result<ProcessExit> run_in(Launcher& launcher, Command command, const std::string& folder,
                           const std::string& cwd, ProcessLimits limits) {
  LaunchSpec launch;
  launch.argv = std::move(command.argv);
  launch.env = std::move(command.env);
  launch.cwd = cwd;
  launch.stdout_path = folder + "/stdout";
  launch.stderr_path = folder + "/stderr";
  limits.activity = [&folder] { return size_of_files(folder); };
  auto exit = run_process(launcher, launch, limits);
  if (!exit.ok()) {
    return std::move(exit).context("'" + launch.argv.front() + "', output in " + folder);
  }
  return exit;
}

Status failed(const std::string& what, const ProcessExit& exit, const std::string& folder) {
  const std::string how = exit.signal != 0
                              ? "was killed by signal " + std::to_string(exit.signal)
                              : "ended with exit code " + std::to_string(exit.exit_code);
  return run_error(what + " " + how + "; the end of its standard error:\n" +
                   indent(log_tail(folder + "/stderr", kTailLines)) + "\n  its output: " + folder +
                   "/{stdout,stderr}");
}

/// Ends of the iterations of a rank on the machine's monotonic clock, after its start.
Result<std::vector<TimeNs>> iteration_ends(const std::string& path) {
  PRISM_TRY_ASSIGN(const Recording recording, read_recording(path));
  std::vector<TimeNs> ends = {std::get<wire::Hello>(recording.events.front()).clocks.mono_ns};
  for (const size_t index : find_iteration_marks(recording.events).ends) {
    ends.push_back(std::get<wire::Mark>(recording.events[index]).clocks.mono_ns);
  }
  return ends;
}

/// How often torchrun's summary names a rank that was ended by SIGABRT.
uint32_t count_aborts(const std::string& folder) {
  const Result<std::string> text = read_file(folder + "/stderr", kMaxLog);
  uint32_t count = 0;
  if (text.ok()) {
    for (size_t at = text->find("exitcode"); at != std::string::npos;
         at = text->find("exitcode", at + 1)) {
      const std::string line = text->substr(at, text->find('\n', at) - at);
      count += line.find("-6") != std::string::npos ? 1 : 0;
    }
  }
  return count;
}

}  // namespace

Result<ReferenceRun> run_reference(Launcher& launcher, Runtime& runtime, ReferenceSpec spec,
                                   const std::string& folder, const std::string& cwd,
                                   const ProcessLimits& limits) {
  spec.marks_folder = folder;
  const auto marks = [&folder](uint32_t rank) { return folder + "/marks." + std::to_string(rank); };
  std::error_code ignored;
  for (uint32_t rank = 0; rank < spec.world_size; ++rank) {
    std::filesystem::remove(marks(rank), ignored);
  }
  PRISM_TRY_ASSIGN(Command command, runtime.reference_command(spec));
  PRISM_TRY_ASSIGN(const ProcessExit exit,
                   run_in(launcher, std::move(command), folder, cwd, limits));
  ReferenceRun run;
  const bool well = exit.signal == 0 && exit.exit_code == 0;
  const std::string what =
      "the job for real with " + std::to_string(spec.world_size) + " ranks (torchrun)";
  run.late_aborts = well ? 0 : count_aborts(folder);
  if (!well && run.late_aborts == 0) {
    return failed(what, exit, folder);
  }
  std::vector<TimeNs> last;  // by iteration, over all ranks
  for (uint32_t rank = 0; rank < spec.world_size; ++rank) {
    PRISM_TRY_ASSIGN(const std::vector<TimeNs> ends, iteration_ends(marks(rank)));
    if (rank == 0) {
      last = ends;
    }
    if (ends.size() != last.size()) {
      // After an abort this is a job that did not end well; else ranks that differ.
      return well ? run_error(what + ": rank 0 ran " + std::to_string(last.size() - 1) +
                              " iterations, rank " + std::to_string(rank) + " " +
                              std::to_string(ends.size() - 1))
                  : failed(what, exit, folder);
    }
    for (size_t i = 0; i < ends.size(); ++i) {
      last[i] = std::max(last[i], ends[i]);
    }
  }
  if (last.size() < 2) {
    return run_error(what + " made no optimizer step: its iterations cannot be told");
  }
  for (size_t i = 1; i < last.size(); ++i) {
    run.iteration_times.push_back(last[i] - last[i - 1]);
  }
  return run;
}

link::Link MeasuredLink::medians() const {
  link::Link link;
  link.latency_ns = latency_ns.median;
  link.per_message_ns = per_message_ns.median;
  link.bandwidth_Bps = static_cast<uint64_t>(bandwidth.median);
  link.reduce_bandwidth_Bps = static_cast<uint64_t>(reduce_bandwidth.median);
  link.copy_bandwidth_Bps = static_cast<uint64_t>(copy_bandwidth.median);
  return link;
}

Result<MeasuredLink> measure_link(Launcher& launcher, Runtime& runtime, uint32_t first_core,
                                  uint32_t second_core, const std::vector<std::string>& env,
                                  const std::string& folder, const ProcessLimits& limits) {
  PRISM_TRY_ASSIGN(Command command, runtime.measure_link_command(first_core, second_core, env));
  PRISM_TRY_ASSIGN(const ProcessExit exit,
                   run_in(launcher, std::move(command), folder, folder, limits));
  if (exit.signal != 0 || exit.exit_code != 0) {
    return failed("the measurement of the link", exit, folder);
  }
  PRISM_TRY_ASSIGN(const std::string text, read_file(folder + "/stdout", kMaxLog));
  MeasuredLink link;
  const std::array<std::pair<const char*, Quartiles*>, 5> figures = {{
      {"latency", &link.latency_ns},
      {"per_message", &link.per_message_ns},
      {"bandwidth", &link.bandwidth},
      {"reduce_bandwidth", &link.reduce_bandwidth},
      {"copy_bandwidth", &link.copy_bandwidth},
  }};
  for (const auto& [name, figure] : figures) {
    std::istringstream lines(text);
    std::string line;
    bool found = false;
    while (!found && std::getline(lines, line)) {
      std::istringstream words(line);
      std::string word;
      found = static_cast<bool>(words >> word >> figure->low >> figure->median >> figure->high) &&
              word == name && figure->median >= 0;
    }
    if (!found) {
      return run_error("the measurement of the link gave no figure '" + std::string(name) +
                       "'; its output: " + folder + "/stdout");
    }
  }
  return link;
}

std::string render_toml(const MeasuredLink& link) {
  std::string text = "[link.default]\n";
  const auto row = [&text](const char* name, const Quartiles& figure, double unit,
                           const char* unit_name) {
    char line[160];
    std::snprintf(line, sizeof line, "%s = \"%.3f %s\"  # quartiles %.3f .. %.3f\n", name,
                  static_cast<double>(figure.median) / unit, unit_name,
                  static_cast<double>(figure.low) / unit, static_cast<double>(figure.high) / unit);
    text += line;
  };
  row("latency", link.latency_ns, 1e3, "us");
  row("per_message", link.per_message_ns, 1e3, "us");
  row("bandwidth", link.bandwidth, 1e9, "GB/s");
  row("reduce_bandwidth", link.reduce_bandwidth, 1e9, "GB/s");
  row("copy_bandwidth", link.copy_bandwidth, 1e9, "GB/s");
  return text;
}

}  // namespace prism::schedule
