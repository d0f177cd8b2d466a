// SPDX-License-Identifier: Apache-2.0
#include "core/cli/prediction_report.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "core/base/json.hpp"
#include "core/cli/spread_json.hpp"
#include "core/cli/table.hpp"
#include "core/graph/describe.hpp"
#include "core/graph/replicas.hpp"

namespace prism::cli {
namespace {

using graph::Kind;

/// Ranks that do the same, with the medians of their times.
struct Row {
  std::vector<Rank> ranks;
  replay::ClassTime time;
};

std::vector<Row> rows_of(const graph::Job& job, const replay::Prediction& prediction) {
  std::vector<Row> rows;
  graph::Replicas replicas = graph::replicas_of(job);
  rows.reserve(replicas.groups.size());
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

/// A lane of ranks that do the same: the least and most that any of them is busy.
struct LaneRow {
  const Row* row = nullptr;
  std::string lane;
  DurationNs least = 0;
  DurationNs most = 0;
};

std::vector<LaneRow> lanes_of(const PredictionReport& report, const std::vector<Row>& rows) {
  const graph::Job& job = report.trace->kinds.front().job;
  std::vector<LaneRow> lanes;
  for (const Row& row : rows) {
    const graph::Program& program = job.program(row.ranks.front());
    for (size_t lane = 0; lane < program.lanes.size(); ++lane) {
      LaneRow& to = lanes.emplace_back(LaneRow{&row, program.lanes[lane].name, 0, 0});
      bool first = true;
      for (const Rank rank : row.ranks) {
        const replay::LaneUse& use = report.typical.classes[job.class_of[rank]].lanes[lane];
        to.least = first ? use.least : std::min(to.least, use.least);
        to.most = std::max(to.most, use.most);
        first = false;
      }
    }
  }
  return lanes;
}

DurationNs window_of(const PredictionReport& report) {
  const replay::ReplayResult& typical = report.typical;
  return typical.iteration_time.size() <= 1 ? typical.end
                                            : typical.window_end - typical.window_start;
}

/// Of the window, on average over the ranks.
double share_of_window(const PredictionReport& report, DurationNs all_ranks) {
  const double ranks = report.trace->kinds.front().job.world_size;
  return static_cast<double>(all_ranks) /
         (ranks * static_cast<double>(std::max<DurationNs>(1, window_of(report))));
}

struct Waiting {
  DurationNs messages = 0;
  DurationNs collectives = 0;
};
Waiting waiting_of(const replay::ReplayResult& result) {
  Waiting waiting;
  for (const auto& [kind, ns] : result.waiting_by_kind) {
    (graph::has_parts(kind) ? waiting.messages : waiting.collectives) += ns;
  }
  return waiting;
}

std::string spread_text(const Spread& spread) {
  return format_duration(spread.median) + "  [" + format_duration(spread.low) + ", " +
         format_duration(spread.high) + "]";
}

std::string headline(const PredictionReport& report) {
  const replay::Prediction& prediction = report.prediction;
  const uint32_t ranks = report.trace->kinds.front().job.world_size;
  std::string text = "iteration time, " + count_of(ranks, "rank") + ":  " +
                     spread_text(prediction.iteration_time) + ", " +
                     count_of(prediction.iteration_times.size(), "iteration") + "\n";
  if (report.noisy) {
    text += "with noise drawn for every rank:  " + spread_text(report.noisy->with_noise) + "\n";
  }
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
  const Waiting waiting = waiting_of(report.typical);
  return text + "\nwaiting, average of all ranks:  for messages (pipeline bubble) " +
         format_percent(share_of_window(report, waiting.messages)) + ", in collectives " +
         format_percent(share_of_window(report, waiting.collectives)) + "\n";
}

std::string ranks_table(const std::vector<Row>& rows) {
  Table table({"ranks", "compute", "communication", "waiting"});
  for (const Row& row : rows) {
    table.add({graph::ranks_in_words(row.ranks), format_duration(row.time.compute),
               format_duration(row.time.communication), format_duration(row.time.waiting)});
  }
  return "\nper iteration and rank, seen from its first CPU lane, or else that with the most "
         "compute "
         "(median)\n" +
         table.to_string();
}

std::string lanes_table(const PredictionReport& report, const std::vector<Row>& rows) {
  Table table({"ranks, lane", "busy, least", "busy, most", "idle, least"});
  const DurationNs window = window_of(report);
  const std::vector<LaneRow> lanes = lanes_of(report, rows);
  constexpr size_t kMostRows = 40;
  for (size_t i = 0; i < std::min(lanes.size(), kMostRows); ++i) {
    const LaneRow& lane = lanes[i];
    table.add({graph::ranks_in_words(lane.row->ranks) + ", " + lane.lane,
               format_duration(lane.least), format_duration(lane.most),
               format_duration(std::max<DurationNs>(0, window - lane.most))});
  }
  return "\nlanes, iteration " + std::to_string(report.typical_iteration) + " of " +
         format_duration(window) + "\n" + table.to_string() +
         (lanes.size() > kMostRows
              ? "and " + std::to_string(lanes.size() - kMostRows) + " more (--json)\n"
              : "");
}

/// Who made whom wait.
std::string waits_table(const PredictionReport& report) {
  const graph::Job& job = report.trace->kinds.front().job;
  Table table({"late", "waiting ranks", "times", "in all"});
  constexpr size_t kMostRows = 8;
  for (size_t i = 0; i < std::min(report.typical.waits.size(), kMostRows); ++i) {
    const replay::Wait& wait = report.typical.waits[i];
    table.add({"rank " + std::to_string(wait.late),
               graph::ranks_in_words(job.classes[wait.waiting_class].members),
               std::to_string(wait.count), format_duration(wait.total)});
  }
  return table.empty() ? "" : "\nwho was waited for\n" + table.to_string();
}

std::string notes_text(const PredictionReport& report) {
  const graph::Trace& trace = *report.trace;
  std::string text;
  for (const std::string& note : trace.notes) {
    text += "\nnote: " + note;
  }
  const auto missing = static_cast<size_t>(
      std::count(trace.times_from.begin(), trace.times_from.end(), graph::kNone));
  if (missing > 0) {
    text += "\nnote: the times of " + count_of(missing, "rank") +
            " are missing: those of the graph count";
  }
  return text + (text.empty() ? "" : "\n");
}

void write_ranks(JsonWriter& json, const std::vector<Rank>& ranks) {
  json.key("ranks").begin_array();
  for (const Rank rank : ranks) {
    json.value(rank);
  }
  json.end_array();
}

void write_noise(JsonWriter& json, const calibrate::NoisyPrediction& noisy) {
  json.key("noise").begin_object();
  write_spread(json, "iteration_time_ns", noisy.with_noise);
  json.key("shares").begin_array();
  for (const calibrate::NoiseShares& shares : noisy.shares) {
    json.begin_object();
    json.member("measured_ranks", shares.measured_ranks);
    json.member("common", shares.common);
    json.member("persistent", shares.persistent);
    json.member("independent", shares.independent);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_waits(JsonWriter& json, const PredictionReport& report) {
  const graph::Job& job = report.trace->kinds.front().job;
  json.key("waits").begin_array();
  for (const replay::Wait& wait : report.typical.waits) {
    json.begin_object();
    json.member("late", wait.late);
    write_ranks(json, job.classes[wait.waiting_class].members);
    json.member("count", wait.count);
    json.member("total_ns", wait.total);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

Result<PredictionReport> predict_trace(const graph::Trace& trace, uint32_t draws) {
  PredictionReport report;
  report.trace = &trace;
  PRISM_TRY_ASSIGN(report.prediction, replay::predict(trace));
  const graph::IterationKind& kind = trace.kinds.front();
  report.window = graph::counted_iterations(kind);
  if (draws > 0 && kind.samples.size() > 1 && !trace.times_from.empty()) {
    calibrate::NoisyPredictionOptions options;
    options.draws = draws;
    PRISM_TRY_ASSIGN(report.noisy, calibrate::predict_with_noise(kind, trace.times_from, options));
  }
  // Times of a kind come sample after sample; with several iterations each, the first stands.
  const size_t each = report.window.size();
  const auto off = [&](size_t sample) {
    return std::abs(report.prediction.iteration_times[sample * each] -
                    report.prediction.iteration_time.median);
  };
  size_t nearest = 0;
  for (size_t sample = 1; sample < kind.samples.size(); ++sample) {
    nearest = off(sample) < off(nearest) ? sample : nearest;
  }
  replay::ReplayOptions options;
  options.first_iteration = report.window.front();
  options.last_iteration = report.window.back();
  const bool bare = kind.samples.empty();
  report.typical_iteration = bare ? 0 : kind.samples[nearest].iteration;
  PRISM_TRY_ASSIGN(
      report.typical,
      replay::replay(kind.job, bare ? graph::Times() : kind.samples[nearest].times, options));
  return report;
}

std::string render_text(const PredictionReport& report) {
  const std::vector<Row> rows = rows_of(report.trace->kinds.front().job, report.prediction);
  return headline(report) + ranks_table(rows) + lanes_table(report, rows) + waits_table(report) +
         notes_text(report);
}

std::string render_json(const PredictionReport& report) {
  const graph::Trace& trace = *report.trace;
  const replay::Prediction& prediction = report.prediction;
  const std::vector<Row> rows = rows_of(trace.kinds.front().job, prediction);
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.member("origin", trace.origin);
  json.member("world_size", trace.kinds.front().job.world_size);
  write_spread(json, "iteration_time_ns", prediction.iteration_time);
  json.key("iteration_times_ns").begin_array();
  for (const DurationNs time : prediction.iteration_times) {
    json.value(time);
  }
  json.end_array();
  if (report.noisy) {
    write_noise(json, *report.noisy);
  }
  json.key("critical_path_ns").begin_object();
  for (const auto& [kind, ns] : prediction.critical_path) {
    json.member(graph::to_string(kind), ns);
  }
  json.end_object();
  const Waiting waiting = waiting_of(report.typical);
  json.member("bubble", share_of_window(report, waiting.messages));
  json.member("collective_waiting", share_of_window(report, waiting.collectives));
  json.key("ranks").begin_array();
  for (const Row& row : rows) {
    json.begin_object();
    write_ranks(json, row.ranks);
    json.member("compute_ns", row.time.compute);
    json.member("communication_ns", row.time.communication);
    json.member("waiting_ns", row.time.waiting);
    json.end_object();
  }
  json.end_array();
  json.key("lanes").begin_array();
  for (const LaneRow& lane : lanes_of(report, rows)) {
    json.begin_object();
    json.member("first_rank", lane.row->ranks.front());
    json.member("lane", lane.lane);
    json.member("least_busy_ns", lane.least);
    json.member("most_busy_ns", lane.most);
    json.end_object();
  }
  json.end_array();
  write_waits(json, report);
  json.key("notes").begin_array();
  for (const std::string& note : trace.notes) {
    json.value(note);
  }
  json.end_array();
  json.end_object();
  return text + "\n";
}

}  // namespace prism::cli
