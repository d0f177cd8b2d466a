// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/outcome.hpp"

#include <algorithm>
#include <map>

namespace prism::analysis {
namespace {

template <typename Key>
std::vector<std::pair<Key, DurationNs>> longest_first(const std::map<Key, DurationNs>& sums) {
  std::vector<std::pair<Key, DurationNs>> list(sums.begin(), sums.end());
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return list;
}

std::string name_of(const graph::Program& program, uint32_t node) {
  const uint32_t name = program.labels.empty() ? graph::kNone : program.labels[node].name;
  return name == graph::kNone ? std::string() : program.texts[name];
}

}  // namespace

Result<std::vector<DurationNs>> iteration_times(const Run& run, const graph::Times& times) {
  replay::ReplayOptions options;
  options.analyse = false;
  PRISM_TRY_ASSIGN(const replay::ReplayResult result,
                   replay::replay(run.subject->job(), times, options));
  if (result.iteration_time.size() == 1) {
    return std::vector<DurationNs>{result.end};
  }
  std::vector<DurationNs> list;
  list.reserve(run.counted.size());
  for (const uint32_t iteration : run.counted) {
    list.push_back(result.iteration_time[iteration]);
  }
  return list;
}

Result<PathSummary> path_summary(const Run& run, const graph::Times& times,
                                 uint32_t job_iteration) {
  const graph::Job& job = run.subject->job();
  replay::ReplayOptions options;
  options.first_iteration = job_iteration;
  options.last_iteration = job_iteration;
  PRISM_TRY_ASSIGN(const replay::ReplayResult result, replay::replay(job, times, options));
  PathSummary summary;
  summary.iteration = run.iteration + job_iteration;
  summary.length = result.window_end - result.window_start;
  summary.before = result.critical_path.before;
  std::map<std::string, DurationNs> by_kind;
  std::map<int32_t, DurationNs> by_stage;
  std::map<Rank, DurationNs> by_rank;
  std::vector<PathStretch> stretches;
  for (const replay::PathSegment& segment : result.critical_path.segments) {
    const DurationNs duration = segment.end - segment.start;
    PathStretch next{segment.rank,
                     run.subject->layout().stage[segment.rank],
                     segment.gap ? "gap" : graph::to_string(segment.kind),
                     name_of(job.program(segment.rank), segment.node),
                     segment.start,
                     duration,
                     1};
    by_kind[next.kind] += duration;
    by_stage[next.stage] += duration;
    by_rank[next.rank] += duration;
    PathStretch* last = stretches.empty() ? nullptr : &stretches.back();
    if (last != nullptr && last->rank == next.rank && last->kind == next.kind &&
        last->name == next.name) {
      last->duration += duration;
      ++last->nodes;
    } else {
      stretches.push_back(std::move(next));
    }
  }
  summary.by_kind = longest_first(by_kind);
  summary.by_stage = longest_first(by_stage);
  summary.by_rank = longest_first(by_rank);
  std::stable_sort(
      stretches.begin(), stretches.end(),
      [](const PathStretch& a, const PathStretch& b) { return a.duration > b.duration; });
  stretches.resize(std::min(stretches.size(), kMostStretches));
  summary.longest = std::move(stretches);
  return summary;
}

}  // namespace prism::analysis
