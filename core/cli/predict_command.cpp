// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <map>

#include "core/base/json.hpp"
#include "core/cli/commands.hpp"
#include "core/cli/spread_json.hpp"
#include "core/cli/table.hpp"
#include "core/cli/trace_input.hpp"
#include "core/graph/describe.hpp"
#include "core/graph/replicas.hpp"
#include "core/replay/predict.hpp"

namespace prism::cli {
namespace {

const Usage kUsage{"prism predict",
                   "FILE... [--json]",
                   "Replays a trace, or the calibrated.prism of a run, and prints its iteration "
                   "time: the median,\nand where 95 % of the iterations lie.",
                   {},
                   with_trace_flags({{"json", "", "for programs"}}),
                   kTraceFiles,
                   "FILE"};

/// Ranks that do the same, with the medians of their times.
struct Row {
  std::vector<Rank> ranks;
  replay::ClassTime time;
};

std::vector<Row> rows_of(const graph::Job& job, const replay::Prediction& prediction) {
  std::vector<Row> rows;
  graph::Replicas replicas = graph::replicas_of(job);
  for (std::vector<Rank>& ranks : replicas.groups) {
    std::vector<DurationNs> compute;
    std::vector<DurationNs> communication;
    std::vector<DurationNs> waiting;
    for (const Rank rank : ranks) {
      const replay::ClassTime& time = prediction.classes[job.class_of[rank]];
      compute.push_back(time.compute);
      communication.push_back(time.communication);
      waiting.push_back(time.waiting);
    }
    Row& row = rows.emplace_back();
    row.time.compute = quantile(std::move(compute), 0.5);
    row.time.communication = quantile(std::move(communication), 0.5);
    row.time.waiting = quantile(std::move(waiting), 0.5);
    row.ranks = std::move(ranks);
  }
  return rows;
}

std::string text_of(const graph::Trace& trace, const replay::Prediction& prediction) {
  const graph::Job& job = trace.kinds.front().job;
  const Spread& time = prediction.iteration_time;
  std::string text = "iteration time, " + count_of(job.world_size, "rank") + ":  " +
                     format_duration(time.median) + "  [" + format_duration(time.low) + ", " +
                     format_duration(time.high) + "], " +
                     count_of(prediction.iteration_times.size(), "iteration") + "\n";
  DurationNs total = 0;
  for (const auto& [kind, ns] : prediction.critical_path) {
    total += ns;
  }
  text += "critical path:  ";
  for (const auto& [kind, ns] : prediction.critical_path) {
    text += (&kind == &prediction.critical_path.front().first ? "" : ", ") +
            std::string(graph::to_string(kind)) + " " +
            format_percent(static_cast<double>(ns) /
                           static_cast<double>(std::max<DurationNs>(1, total)));
  }
  Table table({"ranks", "compute", "communication", "waiting"});
  for (const Row& row : rows_of(job, prediction)) {
    table.add({graph::ranks_in_words(row.ranks), format_duration(row.time.compute),
               format_duration(row.time.communication), format_duration(row.time.waiting)});
  }
  text += "\n\nper iteration and rank (median), ranks of equal structure together\n" +
          table.to_string();
  for (const std::string& note : trace.notes) {
    text += "\nnote: " + note;
  }
  const auto missing = static_cast<size_t>(
      std::count(trace.times_from.begin(), trace.times_from.end(), graph::kNone));
  if (missing > 0) {
    text += "\nnote: the times of " + count_of(missing, "rank") +
            " are missing: those of the graph count";
  }
  return text + (trace.notes.empty() && missing == 0 ? "" : "\n");
}

std::string json_of(const graph::Trace& trace, const replay::Prediction& prediction) {
  const graph::Job& job = trace.kinds.front().job;
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.member("origin", trace.origin);
  json.member("world_size", job.world_size);
  write_spread(json, "iteration_time_ns", prediction.iteration_time);
  json.key("iteration_times_ns").begin_array();
  for (const DurationNs time : prediction.iteration_times) {
    json.value(time);
  }
  json.end_array();
  json.key("critical_path_ns").begin_object();
  for (const auto& [kind, ns] : prediction.critical_path) {
    json.member(graph::to_string(kind), ns);
  }
  json.end_object();
  json.key("ranks").begin_array();
  for (const Row& row : rows_of(job, prediction)) {
    json.begin_object();
    json.key("ranks").begin_array();
    for (const Rank rank : row.ranks) {
      json.value(rank);
    }
    json.end_array();
    json.member("compute_ns", row.time.compute);
    json.member("communication_ns", row.time.communication);
    json.member("waiting_ns", row.time.waiting);
    json.end_object();
  }
  json.end_array();
  json.key("notes").begin_array();
  for (const std::string& note : trace.notes) {
    json.value(note);
  }
  json.end_array();
  json.end_object();
  return text + "\n";
}

int run(const Arguments& arguments) {
  const Result<calibrate::Calibrated> calibrated = calibrated_input(arguments);
  if (!calibrated.ok()) {
    return report_error(calibrated.status());
  }
  const Result<replay::Prediction> prediction = replay::predict(calibrated->trace);
  if (!prediction.ok()) {
    return report_error(prediction.status());
  }
  const std::string text = arguments.has("json") ? json_of(calibrated->trace, *prediction)
                                                 : text_of(calibrated->trace, *prediction);
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

int predict_command(const Words& words) {
  return run_parsed(kUsage, words, run);
}

}  // namespace prism::cli
