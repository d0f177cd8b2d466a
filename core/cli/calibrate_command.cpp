// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>

#include "core/base/text.hpp"
#include "core/calibrate/replica_check.hpp"
#include "core/calibrate/share.hpp"
#include "core/cli/commands.hpp"
#include "core/cli/table.hpp"
#include "core/cli/trace_input.hpp"
#include "core/graph/describe.hpp"
#include "core/graph/trace_file.hpp"

namespace prism::cli {
namespace {

const Usage kUsage{
    "prism calibrate",
    "FILE... --output PATH.prism [--graph TRACE.prism] [--assume-replicas]",
    "From what was observed of some or all ranks, each slice on its own clock, to times without\n"
    "waiting. With --graph, ranks that were not observed get those of a replica.",
    {},
    with_trace_flags(
        {{"output", "PATH", "the file to write"},
         {"graph", "PATH", "a .prism file that says what all ranks do"},
         {"assume-replicas", "", "share times although replicas were seen to differ"}}),
    kTraceFiles,
    "FILE"};

/// The graph of --graph: its most frequent kind.
Result<graph::Job> graph_of(const std::string& path) {
  PRISM_TRY_ASSIGN(graph::Trace trace, graph::read_trace(path));
  return std::move(trace.kinds.front().job);
}

Result<calibrate::Calibrated> calibrated_against(const Arguments& arguments) {
  PRISM_TRY_ASSIGN(TraceInput input, read_input(arguments));
  if (input.trace) {
    return config_error("the file has been calibrated already");
  }
  PRISM_TRY_ASSIGN(const graph::Job job, graph_of(arguments.at("graph")));
  PRISM_TRY_ASSIGN(const std::vector<calibrate::Observation> repeats,
                   repeats_of(std::move(input.slices)));
  PRISM_TRY_ASSIGN(calibrate::Calibrated result, calibrate::calibrate(job, repeats, {}));
  result.trace.origin = input.origin;
  return result;
}

void print(const calibrate::Calibrated& calibrated, const calibrate::Coverage& coverage,
           const calibrate::ReplicaCheck& check) {
  Table table({"times", "ranks"}, Table::Align::Left);
  const auto add = [&](const char* name, const std::vector<Rank>& ranks) {
    if (!ranks.empty()) {
      table.add({name, graph::ranks_in_words(ranks)});
    }
  };
  add("measured", coverage.measured);
  add("shared from a replica", coverage.shared);
  add("missing", coverage.missing);
  std::fputs(table.to_string().c_str(), stdout);
  uint64_t samples = 0;
  for (const auto& reports : calibrated.reports) {
    samples += reports.size();
  }
  const calibrate::SampleReport total = calibrate::total_of(calibrated);
  std::printf(
      "%s; %llu transfers estimated across clocks; made 0 because they would be negative: "
      "%llu gaps (at most %s), %llu transfers (at most %s)\n",
      count_of(samples, "sample").c_str(), static_cast<unsigned long long>(total.estimated),
      static_cast<unsigned long long>(total.gaps.count),
      format_duration(total.gaps.largest).c_str(),
      static_cast<unsigned long long>(total.transfers.count),
      format_duration(total.transfers.largest).c_str());
  for (const std::string& sentence : check.in_words()) {
    std::printf("%s\n", printable_lines(sentence).c_str());
  }
  if (total.unseen > 0) {
    std::printf(
        "%s with ranks that were not observed: what looks like transfer may be waiting for "
        "them, so at most the\ntransfer of the graph counts\n",
        count_of(total.unseen, "transfer").c_str());
  }
  if (!coverage.missing.empty()) {
    std::printf("ranks whose times are missing keep those of the graph\n");
  }
}

Status calibrate_files(const Arguments& arguments) {
  PRISM_TRY_ASSIGN(const std::string path, output_path(arguments));
  Result<calibrate::Calibrated> read =
      arguments.has("graph") ? calibrated_against(arguments) : calibrated_input(arguments);
  if (!read.ok()) {
    return std::move(read).status();
  }
  calibrate::Calibrated calibrated = std::move(read).value();
  if (calibrated.reports.empty()) {
    return config_error("the file has been calibrated already");
  }
  PRISM_TRY_ASSIGN(const calibrate::ReplicaCheck check,
                   calibrate::check_replicas(calibrated.trace));
  const calibrate::Coverage coverage = calibrate::share_times(calibrated.trace);
  if (!coverage.shared.empty() && check.comparable() && !check.holds() &&
      !arguments.has("assume-replicas")) {
    std::string text = "ranks " + graph::ranks_in_words(coverage.shared) +
                       " would get the times of a replica, but replicas differ:";
    for (const std::string& sentence : check.in_words()) {
      text += "\n  " + sentence;
    }
    return run_error(text + "\n  measure all ranks, or say --assume-replicas",
                     Code::FailedPrecondition);
  }
  print(calibrated, coverage, check);
  return graph::write_trace(path, calibrated.trace);
}

int run(const Arguments& arguments) {
  const Status status = calibrate_files(arguments);
  return status.ok() ? 0 : report_error(status);
}

}  // namespace

int calibrate_command(const Words& words) {
  full_file_is_an_error();
  return run_parsed(kUsage, words, run);
}

}  // namespace prism::cli
