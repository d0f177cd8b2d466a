// SPDX-License-Identifier: Apache-2.0
#include "core/cli/report.hpp"

#include <algorithm>
#include <set>

#include "core/base/json.hpp"
#include "core/cli/spread_json.hpp"
#include "core/cli/table.hpp"
#include "core/graph/program.hpp"

namespace prism::cli {
namespace {

std::string spread_text(const Spread& spread) {
  return format_duration(spread.median) + "  (95 % of iterations: " + format_duration(spread.low) +
         " .. " + format_duration(spread.high) + ")";
}

double share(DurationNs part, DurationNs whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string ranks_text(const std::vector<Rank>& ranks) {
  std::string text;
  for (const Rank rank : ranks) {
    text += (text.empty() ? "" : ", ") + std::to_string(rank);
  }
  return text.empty() ? "-" : text;
}

std::string classes_text(const RunReport& report) {
  Table table({"class of rank", "ranks", "checked", "compute", "communication", "waiting"});
  for (size_t i = 0; i < report.classes.size(); ++i) {
    const ClassReport& c = report.classes[i];
    const replay::ClassTime& time = report.prediction.classes[i];
    const DurationNs all = time.compute + time.communication + time.waiting;
    const auto cell = [all](DurationNs ns) {
      return format_duration(ns) + " " + format_percent(share(ns, all));
    };
    table.add({std::to_string(c.representative), std::to_string(c.members), ranks_text(c.checked),
               cell(time.compute), cell(time.communication), cell(time.waiting)});
  }
  return table.to_string();
}

std::string critical_path_text(const RunReport& report) {
  DurationNs whole = 0;
  for (const auto& [kind, ns] : report.prediction.critical_path) {
    whole += ns;
  }
  std::string text;
  for (const auto& [kind, ns] : report.prediction.critical_path) {
    text += (text.empty() ? "" : ", ") + std::string(graph::to_string(kind)) + " " +
            format_percent(share(ns, whole));
  }
  return text;
}

std::string made_up_text(const RunReport& report) {
  Table table({"communicator", "operation", "source", "operations", "bytes"});
  for (const schedule::MadeUpCount& made_up : report.made_up) {
    table.add({made_up.communicator, made_up.operation, made_up.source,
               std::to_string(made_up.operations), format_bytes(made_up.bytes)});
  }
  return table.to_string();
}

void write_classes(JsonWriter& json, const RunReport& report) {
  json.key("classes").begin_array();
  for (size_t i = 0; i < report.classes.size(); ++i) {
    const ClassReport& c = report.classes[i];
    const replay::ClassTime& time = report.prediction.classes[i];
    json.begin_object();
    json.member("representative", c.representative);
    json.member("members", c.members);
    json.member("runs", c.runs);
    json.key("checked").begin_array();
    for (const Rank rank : c.checked) {
      json.value(rank);
    }
    json.end_array();
    json.member("communications", c.communications);
    json.member("training_iterations", c.training_iterations);
    json.member("compute_ns", time.compute);
    json.member("communication_ns", time.communication);
    json.member("waiting_ns", time.waiting);
    json.member("agent_cost_ns", c.agent_cost_ns);
    json.member("cpu_share", c.cpu_share);
    json.end_object();
  }
  json.end_array();
}

void write_made_up(JsonWriter& json, const RunReport& report) {
  json.member("made_up_ranks", report.made_up_ranks);
  json.key("made_up").begin_array();
  for (const schedule::MadeUpCount& made_up : report.made_up) {
    json.begin_object();
    json.member("communicator", made_up.communicator);
    json.member("operation", made_up.operation);
    json.member("source", made_up.source);
    json.member("operations", made_up.operations);
    json.member("bytes", made_up.bytes);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string render_text(const RunReport& report) {
  std::string text;
  text += "predicted iteration time, " + count_of(report.world_size, "rank") + ":  " +
          spread_text(report.prediction.iteration_time) + "\n";
  text += "critical path:  " + critical_path_text(report) + "\n\n";
  text += "per iteration and rank (replayed)\n" + classes_text(report) + "\n";
  if (report.made_up.empty()) {
    text += "values that no peer has sent: none\n";
  } else {
    text += "values that no peer has sent, made up where a rank ran alone (sum over " +
            count_of(report.made_up_ranks, "executed rank") + ")\n" + made_up_text(report);
  }
  if (report.verification) {
    text += "\n" + verification_text(*report.verification);
  }
  for (const std::string& note : report.notes) {
    text += "\nnote: " + note;
  }
  text += std::string(report.notes.empty() ? "" : "\n") + "\nresults: " + report.run_dir +
          (report.timeline_ranks > 0 ? "/{metrics.json,timeline.json}" : "/metrics.json") + "\n";
  return text;
}

std::string render_metrics(const RunReport& report) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.member("schema", 1);
  json.member("experiment", report.name);
  json.member("world_size", report.world_size);
  json.key("executed").begin_object();
  json.member("now", report.executed);
  json.member("reused", report.reused);
  json.end_object();
  json.key("predicted").begin_object();
  write_spread(json, "iteration_time_ns", report.prediction.iteration_time);
  json.member("iterations", report.prediction.iteration_times.size());
  json.key("critical_path_ns").begin_object();
  for (const auto& [kind, ns] : report.prediction.critical_path) {
    json.member(graph::to_string(kind), ns);
  }
  json.end_object();
  json.end_object();
  write_classes(json, report);
  write_made_up(json, report);
  if (report.verification) {
    write_verification(json, *report.verification);
  }
  json.key("notes").begin_array();
  for (const std::string& note : report.notes) {
    json.value(note);
  }
  json.end_array();
  json.key("versions").begin_object();
  size_t from = 0;
  while (from < report.versions.size()) {
    const size_t end = std::min(report.versions.find('\n', from), report.versions.size());
    const std::string line = report.versions.substr(from, end - from);
    const size_t equals = line.find('=');
    if (equals != std::string::npos) {
      json.member(line.substr(0, equals), line.substr(equals + 1));
    }
    from = end + 1;
  }
  json.end_object();
  json.end_object();
  return text + "\n";
}

}  // namespace prism::cli
