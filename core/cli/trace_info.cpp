// SPDX-License-Identifier: Apache-2.0
#include "core/cli/trace_info.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "core/base/json.hpp"
#include "core/cli/table.hpp"

namespace prism::cli {
namespace {

using calibrate::Observation;
using calibrate::ObservedRank;
using calibrate::Span;

DurationNs observed_time(const Observation& observation) {
  std::map<uint32_t, Span> by_clock;
  for (const ObservedRank& rank : observation.ranks) {
    for (const Span& node : rank.nodes) {
      const auto [entry, first] = by_clock.try_emplace(rank.clock, node);
      Span& span = entry->second;
      span = {std::min(span.start, node.start), std::max(span.end, node.end)};
    }
  }
  DurationNs longest = 0;
  for (const auto& [clock, span] : by_clock) {
    longest = std::max(longest, span.end - span.start);
  }
  return longest;
}

double deviation(const ReplayedIteration& iteration) {
  const auto observed = static_cast<double>(iteration.observed);
  return iteration.observed == 0
             ? 0
             : (static_cast<double>(iteration.replayed.end) - observed) / observed;
}

std::string signed_percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.3f %%", 100 * share);
  return text;
}

struct Size {
  uint64_t nodes = 0;
  uint64_t lanes = 0;
  std::set<std::vector<Rank>> groups;
};
Size size_of(const Observation& observation) {
  Size size;
  for (const ObservedRank& rank : observation.ranks) {
    size.nodes += rank.program.nodes.size();
    size.lanes += rank.program.lanes.size();
    for (const graph::Communicator& communicator : rank.program.communicators) {
      size.groups.insert(communicator.ranks);
    }
  }
  return size;
}

std::string corrections_text(const calibrate::Corrections& corrections, const std::string& what) {
  return corrections.count == 0
             ? ""
             : std::to_string(corrections.count) + " " + what + " would be negative, by at most " +
                   format_duration(corrections.largest) + "\n";
}

}  // namespace

Result<ReplayedIteration> replay_iteration(const Observation& observation, uint32_t iteration,
                                           const replay::ReplayOptions& options) {
  const Observation one = calibrate::cut(observation, iteration);
  ReplayedIteration result;
  result.number = iteration;
  result.observed = observed_time(one);
  PRISM_TRY_ASSIGN(result.calibrated, calibrate::calibrate(one, {options.eager_bytes}));
  PRISM_TRY_ASSIGN(result.replayed, replay::replay(result.calibrated.job, options));
  return result;
}

std::string render_text(const TraceInfo& info) {
  const Observation& observation = *info.observation;
  const Size size = size_of(observation);
  std::string text = info.format + " trace of " + count_of(observation.world_size, "rank") + ": " +
                     count_of(size.nodes, "node") + " on " + count_of(size.lanes, "lane") + ", " +
                     count_of(size.groups.size(), "group") + ", " +
                     count_of(info.iterations.size(), "iteration") + "\n";
  for (const std::string& note : observation.notes) {
    text += "note: " + note + "\n";
  }
  Table table({"iteration", "observed", "replayed", "deviation", "waiting"});
  double sum = 0;
  double worst = 0;
  calibrate::Corrections gaps;
  calibrate::Corrections transfers;
  const auto add = [](calibrate::Corrections& to, const calibrate::Corrections& more) {
    to.count += more.count;
    to.largest = std::max(to.largest, more.largest);
  };
  for (const ReplayedIteration& iteration : info.iterations) {
    DurationNs waiting = 0;
    for (const replay::Wait& wait : iteration.replayed.waits) {
      waiting += wait.total;
    }
    table.add({std::to_string(iteration.number), format_duration(iteration.observed),
               format_duration(iteration.replayed.end), signed_percent(deviation(iteration)),
               format_duration(waiting / std::max<Rank>(1, observation.world_size))});
    sum += std::abs(deviation(iteration));
    worst = std::max(worst, std::abs(deviation(iteration)));
    add(gaps, iteration.calibrated.gaps);
    add(transfers, iteration.calibrated.transfers);
  }
  text += "\n" + table.to_string();
  if (!info.iterations.empty()) {
    char summary[96];
    std::snprintf(summary, sizeof summary, "\ndeviation: mean %.3f %%, worst %.3f %%\n",
                  100 * sum / static_cast<double>(info.iterations.size()), 100 * worst);
    text += summary;
  }
  uint64_t estimated = 0;
  for (const ReplayedIteration& iteration : info.iterations) {
    estimated += iteration.calibrated.estimated;
  }
  if (estimated > 0) {
    text += std::to_string(estimated) +
            " communications are of ranks whose clocks are taken to differ: their transfers are "
            "estimated, and\nwhen such ranks began is not known. If they do have one clock, an "
            "option of the format says so (kineto:\n--option clock=shared).\n";
  }
  return text + corrections_text(gaps, "gaps") + corrections_text(transfers, "transfers");
}

std::string render_json(const TraceInfo& info) {
  const Observation& observation = *info.observation;
  const Size size = size_of(observation);
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.member("format", info.format);
  json.member("world_size", observation.world_size);
  json.member("nodes", size.nodes);
  json.member("lanes", size.lanes);
  json.member("groups", static_cast<uint64_t>(size.groups.size()));
  json.key("notes").begin_array();
  for (const std::string& note : observation.notes) {
    json.value(note);
  }
  json.end_array();
  json.key("iterations").begin_array();
  for (const ReplayedIteration& iteration : info.iterations) {
    json.begin_object();
    json.member("iteration", iteration.number);
    json.member("observed_ns", iteration.observed);
    json.member("replayed_ns", iteration.replayed.end);
    json.member("negative_gaps", iteration.calibrated.gaps.count);
    json.member("negative_transfers", iteration.calibrated.transfers.count);
    json.member("estimated_transfers", iteration.calibrated.estimated);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return text + "\n";
}

}  // namespace prism::cli
