// SPDX-License-Identifier: Apache-2.0
#include "core/cli/trace_diff_report.hpp"

#include <algorithm>
#include <cstdio>

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/cli/table.hpp"
#include "core/graph/describe.hpp"

namespace prism::cli {
namespace {

using analysis::CallDeviation;
using analysis::Figures;

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%", 100 * share);
  return text;
}

std::string pair_of(const Figures& figures) {
  return percent(figures.median) + " / " + percent(figures.high);
}

std::string rows_text(const TraceDiff& diff, const std::vector<CallDeviation>& rows, size_t most) {
  std::vector<std::string> header{"kind", "lane", "name", "calls", "time"};
  if (diff.between_traces) {
    header.emplace_back("change");
  }
  header.insert(header.end(), {"|duration|", "|start|"});
  if (diff.between_traces) {
    header.insert(header.end(), {"|duration| of replicas", "|start| of replicas"});
  }
  Table table(std::move(header), Table::Align::Left);
  for (size_t i = 0; i < std::min(most, rows.size()); ++i) {
    const CallDeviation& row = rows[i];
    std::vector<std::string> cells{row.kind, row.lane, printable(row.name, 40),
                                   std::to_string(row.calls), format_duration(row.total)};
    if (diff.between_traces) {
      cells.push_back(format_change(row.change, 2));
    }
    cells.push_back(pair_of(row.duration));
    cells.push_back(pair_of(row.start));
    if (diff.between_traces) {
      cells.push_back(row.natural_duration ? pair_of(*row.natural_duration) : "-");
      cells.push_back(row.natural_start ? pair_of(*row.natural_start) : "-");
    }
    table.add(std::move(cells));
  }
  return table.to_string();
}

void write_figures(JsonWriter& json, const char* name, const Figures& figures) {
  json.key(name).begin_object();
  json.member("median", figures.median);
  json.member("high", figures.high);
  json.end_object();
}

void write_rows(JsonWriter& json, const char* name, const std::vector<CallDeviation>& rows) {
  json.key(name).begin_array();
  for (const CallDeviation& row : rows) {
    json.begin_object();
    json.member("kind", row.kind);
    json.member("lane", row.lane);
    json.member("name", row.name);
    json.member("calls", row.calls);
    json.member("total_ns", row.total);
    json.member("change", row.change);
    write_figures(json, "duration", row.duration);
    write_figures(json, "start", row.start);
    if (row.natural_duration) {
      write_figures(json, "replicas_duration", *row.natural_duration);
    }
    if (row.natural_start) {
      write_figures(json, "replicas_start", *row.natural_start);
    }
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string render_text(const TraceDiff& diff) {
  constexpr size_t kMostNames = 20;
  std::string text = diff.a + "\n";
  if (diff.between_traces) {
    text += diff.b + "\n";
    text += diff.difference.empty() ? "The structure is the same.\n"
                                    : "The structure differs, first in iteration " +
                                          std::to_string(diff.difference_in) + ":\n" +
                                          printable_lines(diff.difference) + "\n";
    if (diff.surplus_iterations > 0) {
      text += "note: " + count_of(diff.surplus_iterations, "iteration") +
              " of one trace have nothing to be compared with\n";
    }
  } else {
    for (const std::vector<Rank>& like : diff.like) {
      text += "ranks that do the same: " + graph::ranks_in_words(like) + "\n";
    }
  }
  text += count_of(diff.deviations.nodes, "node") + " compared";
  text += diff.deviations.left_out == 0
              ? "\n"
              : ", " + std::to_string(diff.deviations.left_out) + " have no counterpart\n";
  if (diff.deviations.kinds.empty()) {
    return text;
  }
  text += "\nDeviation of durations, and of starts as a share of the iteration: median / 95 %\n";
  text += rows_text(diff, diff.deviations.kinds, diff.deviations.kinds.size());
  text += "\nThe calls that take most:\n" + rows_text(diff, diff.deviations.calls, kMostNames);
  return text;
}

std::string render_json(const TraceDiff& diff) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.member("a", diff.a);
  if (diff.between_traces) {
    json.member("b", diff.b);
    json.member("same_structure", diff.difference.empty());
    json.member("first_difference", diff.difference);
    json.member("iterations", diff.iterations);
    json.member("surplus_iterations", diff.surplus_iterations);
  } else {
    json.key("like_ranks").begin_array();
    for (const std::vector<Rank>& like : diff.like) {
      json.begin_array();
      for (const Rank rank : like) {
        json.value(rank);
      }
      json.end_array();
    }
    json.end_array();
  }
  json.member("nodes", diff.deviations.nodes);
  json.member("left_out", diff.deviations.left_out);
  write_rows(json, "kinds", diff.deviations.kinds);
  write_rows(json, "calls", diff.deviations.calls);
  json.end_object();
  return text + "\n";
}

}  // namespace prism::cli
