// SPDX-License-Identifier: Apache-2.0
#include "core/cli/trace_info.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "core/base/json.hpp"
#include "core/cli/table.hpp"

namespace prism::cli {
namespace {

using calibrate::SampleReport;
using graph::IterationKind;
using graph::Program;

std::string communicator_name(const graph::Communicator& communicator) {
  return communicator.description.empty() ? communicator.name : communicator.description;
}

/// Sums by kind and communicator. A batch counts by the communicator of its first part.
std::vector<CommunicationUse> communication_of(const graph::Job& job, const graph::Times& of_sample,
                                               const replay::ReplayResult& replayed) {
  std::map<std::pair<graph::Kind, std::string>, CommunicationUse> found;
  for (const replay::RecordedTimes& rank : replayed.recorded) {
    const Program& program = job.program(rank.rank);
    const graph::TimesOfRank own(job, of_sample, rank.rank);
    for (uint32_t id = 0; id < program.nodes.size(); ++id) {
      const graph::Node& node = program.nodes[id];
      const bool parts = graph::has_parts(node.kind);
      if (!parts && !graph::is_collective(node.kind)) {
        continue;
      }
      const uint32_t slot = parts ? program.parts[node.first_part].communicator : node.communicator;
      const std::string name = communicator_name(program.communicators[slot]);
      CommunicationUse& use = found[{node.kind, name}];
      const replay::NodeTimes& times = rank.nodes[id];
      use.kind = node.kind;
      use.communicator = name;
      ++use.count;
      use.bytes += node.input_bytes + node.output_bytes;
      // The parts of a batch begin at different times: what is not its longest part is waiting.
      const DurationNs transfer = own.own_time(id);
      use.transfer += transfer;
      use.waiting += times.end - times.arrival - transfer;
    }
  }
  std::vector<CommunicationUse> uses;
  uses.reserve(found.size());
  for (auto& [key, use] : found) {
    uses.push_back(std::move(use));
  }
  std::stable_sort(uses.begin(), uses.end(), [](const auto& a, const auto& b) {
    return a.transfer + a.waiting > b.transfer + b.waiting;
  });
  return uses;
}

struct Size {
  uint64_t nodes = 0;  ///< of all ranks and samples
  uint64_t lanes = 0;
  std::set<std::vector<Rank>> groups;
};
Size size_of(const graph::Trace& trace) {
  Size size;
  for (const IterationKind& kind : trace.kinds) {
    for (Rank rank = 0; rank < kind.job.world_size; ++rank) {
      size.nodes += kind.job.program(rank).nodes.size() * std::max<size_t>(1, kind.samples.size());
      size.lanes += &kind == trace.kinds.data() ? kind.job.program(rank).lanes.size() : 0;
    }
    for (const graph::JobCommunicator& communicator : kind.job.communicators) {
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

/// Of a sample, or nothing where the trace was calibrated elsewhere.
const SampleReport* report_of(const TraceInfo& info, size_t kind, size_t sample) {
  const auto& reports = info.calibrated.reports;
  return kind < reports.size() && sample < reports[kind].size() ? &reports[kind][sample] : nullptr;
}

/// Calls visit(sample, report or nullptr) for each sample.
template <typename Visit>
void for_each_sample(const TraceInfo& info, Visit visit) {
  size_t place = 0;
  const std::vector<IterationKind>& kinds = info.calibrated.trace.kinds;
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    for (size_t sample = 0; sample < kinds[kind].samples.size(); ++sample) {
      visit(info.samples[place++], report_of(info, kind, sample));
    }
  }
}

double deviation(const ReplayedSample& sample, const SampleReport& report) {
  const auto observed = static_cast<double>(report.observed);
  return report.observed == 0 ? 0 : (static_cast<double>(sample.replayed) - observed) / observed;
}

std::string iterations_table(const TraceInfo& info) {
  const Rank world_size = info.calibrated.trace.kinds.front().job.world_size;
  Table table({"iteration", "observed", "replayed", "deviation", "waiting per rank"});
  double sum = 0;
  double worst = 0;
  uint64_t count = 0;
  for_each_sample(info, [&](const ReplayedSample& sample, const SampleReport* report) {
    const std::string name = std::to_string(sample.iteration) +
                             (sample.repeat > 0 ? "/" + std::to_string(sample.repeat) : "") +
                             (sample.kind > 0 ? " (" + std::to_string(sample.kind + 1) + ")" : "");
    table.add({name, report != nullptr ? format_duration(report->observed) : "-",
               format_duration(sample.replayed),
               report != nullptr ? format_change(deviation(sample, *report), 3) : "-",
               format_duration(sample.waiting / std::max<Rank>(1, world_size))});
    if (report != nullptr) {
      const double off = std::abs(deviation(sample, *report));
      sum += off;
      worst = std::max(worst, off);
      ++count;
    }
  });
  std::string text = "\n" + table.to_string();
  if (count > 0) {
    char summary[96];
    std::snprintf(summary, sizeof summary, "\ndeviation: mean %.3f %%, worst %.3f %%\n",
                  100 * sum / static_cast<double>(count), 100 * worst);
    text += summary;
  }
  const SampleReport total = calibrate::total_of(info.calibrated);
  if (total.estimated > 0) {
    text += std::to_string(total.estimated) +
            " communications are of ranks whose clocks are taken to differ: their transfers are "
            "estimated, and\nwhen such ranks began is not known. If they do have one clock, an "
            "option of the format says so where the files are\nread (kineto: --option "
            "clock=shared).\n";
  }
  return text + corrections_text(total.gaps, "gaps") +
         corrections_text(total.transfers, "transfers");
}

/// Of the sample whose time is the median of the most frequent kind.
const ReplayedSample* typical(const TraceInfo& info) {
  std::vector<const ReplayedSample*> samples;
  for (const ReplayedSample& sample : info.samples) {
    if (sample.kind == 0) {
      samples.push_back(&sample);
    }
  }
  if (samples.empty()) {
    return nullptr;
  }
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end(),
                   [](const auto* a, const auto* b) { return a->replayed < b->replayed; });
  return *middle;
}

std::string communication_table(const TraceInfo& info) {
  const ReplayedSample* sample = typical(info);
  if (sample == nullptr || sample->communication.empty()) {
    return {};
  }
  const Rank ranks = info.calibrated.trace.kinds.front().job.world_size;
  Table table({"communication", "nodes", "in and out", "transfer per rank", "waiting per rank"});
  constexpr size_t kMostRows = 16;
  for (const CommunicationUse& use : sample->communication) {
    if (&use - sample->communication.data() == kMostRows) {
      break;
    }
    table.add({std::string(graph::to_string(use.kind)) +
                   (use.communicator.empty() ? "" : " on '" + use.communicator + "'"),
               std::to_string(use.count), format_bytes(use.bytes),
               format_duration(use.transfer / ranks), format_duration(use.waiting / ranks)});
  }
  std::string text = "\niteration " + std::to_string(sample->iteration) +
                     ", communication of all ranks:\n" + table.to_string();
  if (sample->communication.size() > kMostRows) {
    text += "and " + std::to_string(sample->communication.size() - kMostRows) + " more\n";
  }
  return text;
}

void write_communication(JsonWriter& json, const ReplayedSample& sample) {
  json.key("communication").begin_array();
  for (const CommunicationUse& use : sample.communication) {
    json.begin_object();
    json.member("kind", graph::to_string(use.kind));
    json.member("communicator", use.communicator);
    json.member("nodes", use.count);
    json.member("bytes", use.bytes);
    json.member("transfer_ns", use.transfer);
    json.member("waiting_ns", use.waiting);
    json.end_object();
  }
  json.end_array();
}

void write_replicas(JsonWriter& json, const calibrate::ReplicaCheck& check) {
  json.key("replicas").begin_object();
  json.member("groups", check.groups);
  json.member("compared", check.compared);
  json.member("holds", check.holds());
  json.key("outliers").begin_array();
  for (const calibrate::Outlier& outlier : check.outliers) {
    json.begin_object();
    json.member("rank", outlier.rank);
    json.member("factor", outlier.factor);
    json.member("run_spread", outlier.run_spread);
    json.end_object();
  }
  json.end_array();
  json.member("same_run_spread", check.same_run_spread);
  json.member("work_correlation", check.work_correlation);
  json.member("sharing_error", check.sharing_error);
  json.member("sharing_worst", check.sharing_worst);
  json.key("findings").begin_array();
  for (const std::string& sentence : check.in_words()) {
    json.value(sentence);
  }
  json.end_array();
  json.end_object();
}

}  // namespace

Result<TraceInfo> examine(calibrate::Calibrated calibrated) {
  TraceInfo info;
  info.origin = calibrated.trace.origin;
  for (uint32_t k = 0; k < calibrated.trace.kinds.size(); ++k) {
    const IterationKind& kind = calibrated.trace.kinds[k];
    replay::ReplayOptions options;
    options.critical_path = false;
    options.top_waits = 0;
    for (Rank rank = 0; rank < kind.job.world_size; ++rank) {
      options.record.push_back(rank);
    }
    for (const graph::Sample& sample : kind.samples) {
      PRISM_TRY_ASSIGN(const replay::ReplayResult replayed,
                       replay::replay(kind.job, sample.times, options));
      ReplayedSample& one = info.samples.emplace_back();
      one.iteration = sample.iteration;
      one.repeat = sample.repeat;
      one.kind = k;
      one.replayed = replayed.end;
      for (const auto& [of_kind, waiting] : replayed.waiting_by_kind) {
        one.waiting += waiting;
      }
      one.communication = communication_of(kind.job, sample.times, replayed);
    }
  }
  PRISM_TRY_ASSIGN(info.replicas, calibrate::check_replicas(calibrated.trace));
  info.calibrated = std::move(calibrated);
  return info;
}

std::string render_text(const TraceInfo& info) {
  const graph::Trace& trace = info.calibrated.trace;
  const Size size = size_of(trace);
  std::string text = info.origin + " of " + count_of(trace.kinds.front().job.world_size, "rank") +
                     ": " + count_of(size.nodes, "node") + " on " + count_of(size.lanes, "lane") +
                     ", " + count_of(size.groups.size(), "group") + ", " +
                     count_of(info.samples.size(), "iteration") + "\n";
  for (const std::string& note : trace.notes) {
    text += "note: " + note + "\n";
  }
  for (size_t k = 1; k < trace.kinds.size(); ++k) {
    text += "note: " + count_of(trace.kinds[k].samples.size(), "iteration") +
            " of another structure, kind (" + std::to_string(k + 1) +
            "); the first difference: " + trace.kinds[k].difference + "\n";
  }
  if (!info.samples.empty()) {
    text += iterations_table(info) + communication_table(info) + "\n";
    for (const std::string& sentence : info.replicas.in_words()) {
      text += sentence + "\n";
    }
  }
  return text;
}

std::string render_json(const TraceInfo& info) {
  const graph::Trace& trace = info.calibrated.trace;
  const Size size = size_of(trace);
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.member("origin", info.origin);
  json.member("world_size", trace.kinds.front().job.world_size);
  json.member("nodes", size.nodes);
  json.member("lanes", size.lanes);
  json.member("groups", static_cast<uint64_t>(size.groups.size()));
  json.key("notes").begin_array();
  for (const std::string& note : trace.notes) {
    json.value(note);
  }
  json.end_array();
  json.key("kinds").begin_array();
  for (const IterationKind& kind : trace.kinds) {
    json.begin_object();
    json.member("iterations", static_cast<uint64_t>(kind.samples.size()));
    json.member("difference", kind.difference);
    json.end_object();
  }
  json.end_array();
  json.key("iterations").begin_array();
  for_each_sample(info, [&](const ReplayedSample& sample, const SampleReport* report) {
    json.begin_object();
    json.member("iteration", sample.iteration);
    json.member("repeat", sample.repeat);
    json.member("kind", sample.kind);
    json.member("replayed_ns", sample.replayed);
    json.member("waiting_ns", sample.waiting);
    if (report != nullptr) {
      json.member("observed_ns", report->observed);
      json.member("deviation", deviation(sample, *report));
      json.member("negative_gaps", report->gaps.count);
      json.member("negative_transfers", report->transfers.count);
      json.member("estimated_transfers", report->estimated);
    }
    write_communication(json, sample);
    json.end_object();
  });
  json.end_array();
  write_replicas(json, info.replicas);
  json.end_object();
  return text + "\n";
}

}  // namespace prism::cli
