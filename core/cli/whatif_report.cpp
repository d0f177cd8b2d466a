// SPDX-License-Identifier: Apache-2.0
#include "core/cli/whatif_report.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/cli/spread_json.hpp"
#include "core/cli/table.hpp"

namespace prism::cli {
namespace {

using analysis::PathSummary;
using analysis::Responsible;

double ratio(DurationNs part, DurationNs of) {
  return of == 0 ? 0 : static_cast<double>(part) / static_cast<double>(of);
}

double change_of(const WhatIf& report) {
  const DurationNs before = spread_of(report.before).median;
  return ratio(spread_of(report.after).median - before, before);
}

std::string stage_name(int32_t stage) {
  return stage < 0 ? "no stage" : "stage " + std::to_string(stage);
}

std::string times_text(const WhatIf& report) {
  Table table(
      report.edits.empty()
          ? std::vector<std::string>{"iteration time", "median", "95 % from", "to"}
          : std::vector<std::string>{"iteration time", "median", "95 % from", "to", "change"});
  const auto row = [](const std::string& name, const Spread& spread) {
    return std::vector<std::string>{name, format_duration(spread.median),
                                    format_duration(spread.low), format_duration(spread.high)};
  };
  table.add(row(report.edits.empty() ? "replayed" : "before", spread_of(report.before)));
  if (!report.edits.empty()) {
    std::vector<std::string> after = row("after", spread_of(report.after));
    after.push_back(format_change(change_of(report), 2));
    table.add(std::move(after));
  }
  return table.to_string();
}

std::string edits_text(const WhatIf& report) {
  std::string text;
  for (const AppliedEdit& edit : report.edits) {
    text += edit.option + " '" + printable(edit.text, 200) +
            "': " + count_of(edit.edited.changed, "time") + " changed\n";
    if (edit.edited.changed < edit.edited.selected) {
      text += "note: " + std::to_string(edit.edited.selected - edit.edited.changed) +
              " more are selected, and stay: there is nothing to take a time from\n";
    }
    if (edit.edited.sizeless > 0) {
      text += "note: of " + std::to_string(edit.edited.sizeless) +
              " transfers no size is known: they take the latency alone\n";
    }
  }
  return text;
}

/// What `after` spends on each key, and `before`, the most in `after` first.
template <typename Key, typename Name>
void add_path(Table& table, const WhatIf& report,
              const std::vector<std::pair<Key, DurationNs>>& before,
              const std::vector<std::pair<Key, DurationNs>>& after, const Name& name) {
  constexpr size_t kMost = 8;
  const std::map<Key, DurationNs> old(before.begin(), before.end());
  for (size_t i = 0; i < std::min(after.size(), kMost); ++i) {
    const auto& [key, duration] = after[i];
    std::vector<std::string> row{name(key), format_duration(duration),
                                 format_percent(ratio(duration, report.path_after.length))};
    if (!report.edits.empty()) {
      const auto its = old.find(key);
      row.push_back(format_duration(its == old.end() ? 0 : its->second));
    }
    table.add(std::move(row));
  }
}

std::string path_text(const WhatIf& report) {
  const PathSummary& before = report.path_before;
  const PathSummary& after = report.path_after;
  std::vector<std::string> header{"critical path", "time", "share"};
  if (!report.edits.empty()) {
    header.emplace_back("before");
  }
  Table table(std::move(header));
  add_path(table, report, before.by_kind, after.by_kind,
           [](const std::string& kind) { return kind; });
  if (report.trace->subject().layout().stages > 0) {
    add_path(table, report, before.by_stage, after.by_stage, stage_name);
  }
  add_path(table, report, before.by_rank, after.by_rank,
           [](Rank rank) { return "rank " + std::to_string(rank); });
  std::string text = "Critical path of iteration " + std::to_string(after.iteration) + ", " +
                     format_duration(after.length) + ":\n" + table.to_string();
  Table longest({"longest stretches", "kind", "name", "from", "time"}, Table::Align::Left);
  for (const analysis::PathStretch& stretch : after.longest) {
    longest.add({"rank " + std::to_string(stretch.rank), stretch.kind, printable(stretch.name, 40),
                 format_duration(stretch.start), format_duration(stretch.duration)});
  }
  return longest.empty() ? text : text + "\n" + longest.to_string();
}

std::string attribution_text(const WhatIf& report) {
  const analysis::Attribution& attribution = report.attribution;
  Table table({"at the median of its peers", "saves", "of the iteration", "95 % from", "to"});
  std::string notes;
  const auto add = [&](const std::vector<Responsible>& list, uint32_t left_out,
                       const std::string& noun) {
    for (const Responsible& one : list) {
      table.add({one.what, format_duration(one.saved.median), format_change(one.share, 2),
                 format_duration(one.saved.low), format_duration(one.saved.high)});
    }
    if (left_out > 0) {
      notes += "note: " + count_of(left_out, noun) + " more " + (left_out == 1 ? "was" : "were") +
               " not tried\n";
    }
  };
  add(attribution.stages, attribution.stages_left_out, "stage");
  add(attribution.replicas, attribution.replicas_left_out, "replica");
  add(attribution.ranks, attribution.ranks_left_out, "rank");
  add(attribution.kinds, 0, "kind");
  if (table.empty()) {
    return "Nothing has peers to be compared with: no rank does what another one does.\n";
  }
  return "Who is responsible (figures do not add up; docs/what-if.md says what the peers are):\n" +
         table.to_string() + notes;
}

void write_path(JsonWriter& json, const char* name, const PathSummary& path) {
  json.key(name).begin_object();
  json.member("iteration", path.iteration);
  json.member("length_ns", path.length);
  json.member("before_ns", path.before);
  const auto list = [&](const char* list_name, const char* key, const auto& entries) {
    json.key(list_name).begin_array();
    for (const auto& [what, duration] : entries) {
      json.begin_object();
      json.member(key, what);
      json.member("ns", duration);
      json.end_object();
    }
    json.end_array();
  };
  list("by_kind", "kind", path.by_kind);
  list("by_stage", "stage", path.by_stage);
  list("by_rank", "rank", path.by_rank);
  json.key("longest").begin_array();
  for (const analysis::PathStretch& stretch : path.longest) {
    json.begin_object();
    json.member("rank", stretch.rank);
    json.member("stage", stretch.stage);
    json.member("kind", stretch.kind);
    json.member("name", stretch.name);
    json.member("start_ns", stretch.start);
    json.member("ns", stretch.duration);
    json.member("nodes", stretch.nodes);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_attribution(JsonWriter& json, const analysis::Attribution& attribution) {
  const auto list = [&](const char* name, const std::vector<Responsible>& entries) {
    json.key(name).begin_array();
    for (const Responsible& one : entries) {
      json.begin_object();
      json.member("what", one.what);
      json.member("level", one.level);
      write_spread(json, "saved_ns", one.saved);
      json.member("share", one.share);
      json.end_object();
    }
    json.end_array();
  };
  json.key("attribution").begin_object();
  list("stages", attribution.stages);
  list("replicas", attribution.replicas);
  list("ranks", attribution.ranks);
  list("kinds", attribution.kinds);
  json.member("stages_left_out", attribution.stages_left_out);
  json.member("replicas_left_out", attribution.replicas_left_out);
  json.member("ranks_left_out", attribution.ranks_left_out);
  json.end_object();
}

}  // namespace

std::string render_text(const WhatIf& report) {
  std::string text = in_words(*report.trace) + "\n";
  for (const std::string& note : report.trace->trace->notes) {
    text += "note: " + note + "\n";
  }
  text += edits_text(report);
  return text + "\n" + times_text(report) + "\n" + path_text(report) + "\n" +
         attribution_text(report);
}

std::string render_json(const WhatIf& report) {
  const analysis::Layout& layout = report.trace->subject().layout();
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.member("origin", report.trace->trace->origin);
  json.member("world_size", report.trace->subject().job().world_size);
  json.key("stage").begin_array();
  for (const int32_t stage : layout.stage) {
    json.value(stage);
  }
  json.end_array();
  json.member("stages_from", layout.stages_from);
  json.key("replica").begin_array();
  for (const uint32_t replica : layout.replica) {
    json.value(replica);
  }
  json.end_array();
  json.member("replicas_from", layout.replicas_from);
  json.key("edits").begin_array();
  for (const AppliedEdit& edit : report.edits) {
    json.begin_object();
    json.member("option", edit.option);
    json.member("text", edit.text);
    json.member("selected", edit.edited.selected);
    json.member("changed", edit.edited.changed);
    json.member("sizeless", edit.edited.sizeless);
    json.end_object();
  }
  json.end_array();
  json.key("iterations").begin_array();
  size_t i = 0;
  for (const analysis::Run& run : report.trace->runs) {
    for (const uint32_t iteration : run.counted) {
      json.begin_object();
      json.member("iteration", run.iteration + iteration);
      json.member("before_ns", report.before[i]);
      json.member("after_ns", report.after[i]);
      json.end_object();
      ++i;
    }
  }
  json.end_array();
  write_spread(json, "before_ns", spread_of(report.before));
  write_spread(json, "after_ns", spread_of(report.after));
  json.member("change", change_of(report));
  json.key("critical_path").begin_object();
  write_path(json, "before", report.path_before);
  write_path(json, "after", report.path_after);
  json.end_object();
  write_attribution(json, report.attribution);
  json.end_object();
  return text + "\n";
}

}  // namespace prism::cli
