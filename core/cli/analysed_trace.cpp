// SPDX-License-Identifier: Apache-2.0
#include "core/cli/analysed_trace.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/calibrate/calibrate.hpp"
#include "core/cli/table.hpp"
#include "core/cli/trace_input.hpp"

namespace prism::cli {
Result<AnalysedTrace> analysed_trace(const Arguments& arguments,
                                     const std::vector<std::string>& files) {
  Arguments its = arguments;
  its.lists["FILE"] = files;
  AnalysedTrace result;
  PRISM_TRY_ASSIGN(calibrate::Calibrated calibrated, calibrated_input(its));
  result.trace = std::make_unique<graph::Trace>(std::move(calibrated.trace));
  graph::Trace& trace = *result.trace;
  const auto missing = static_cast<uint64_t>(
      std::count(trace.times_from.begin(), trace.times_from.end(), graph::kNone));
  if (missing > 0) {
    trace.notes.push_back("the times of " + count_of(missing, "rank") +
                          " are missing: those of the graph count");
  }
  for (const graph::IterationKind& kind : trace.kinds) {
    result.subjects.push_back(std::make_unique<analysis::Subject>(kind.job));
    const analysis::Subject* subject = result.subjects.back().get();
    const std::vector<uint32_t> counted = graph::counted_iterations(kind);
    if (kind.samples.empty()) {
      result.runs.push_back({subject, 0, counted, {}});
    }
    for (const graph::Sample& sample : kind.samples) {
      result.runs.push_back({subject, sample.iteration, counted, sample.times});
    }
  }
  std::stable_sort(
      result.runs.begin(), result.runs.end(),
      [](const analysis::Run& a, const analysis::Run& b) { return a.iteration < b.iteration; });
  return result;
}

Status keep_iteration(AnalysedTrace& trace, const Arguments& arguments) {
  if (!arguments.has("iteration") || arguments.at("iteration") == "all") {
    return {};
  }
  PRISM_TRY_ASSIGN(const int64_t wanted,
                   integer_value(arguments, "iteration", 0, std::numeric_limits<int32_t>::max()));
  std::vector<analysis::Run> kept;
  int64_t last = 0;
  for (analysis::Run& run : trace.runs) {
    std::vector<uint32_t> counted;
    for (const uint32_t iteration : run.counted) {
      last = std::max(last, int64_t{run.iteration} + iteration);
      if (int64_t{run.iteration} + iteration == wanted) {
        counted.push_back(iteration);
      }
    }
    if (!counted.empty()) {
      run.counted = std::move(counted);
      kept.push_back(std::move(run));
    }
  }
  if (kept.empty()) {
    return config_error("--iteration: the trace has no iteration " + std::to_string(wanted) +
                        "; the last is " + std::to_string(last));
  }
  trace.runs = std::move(kept);
  return {};
}

std::string in_words(const AnalysedTrace& trace) {
  const analysis::Layout& layout = trace.subject().layout();
  const auto found = [](uint64_t n, const std::string& noun, const std::string& from) {
    return ", " + count_of(n, noun) + (from.empty() ? "" : " (" + from + ")");
  };
  size_t iterations = 0;
  for (const analysis::Run& run : trace.runs) {
    iterations += run.counted.size();
  }
  return trace.trace->origin + ": " + count_of(trace.subject().job().world_size, "rank") +
         (layout.stages == 0 ? ", no pipeline"
                             : found(layout.stages, "stage", layout.stages_from)) +
         found(layout.replicas, "replica", layout.replicas_from) + ", " +
         count_of(iterations, "iteration");
}

}  // namespace prism::cli
