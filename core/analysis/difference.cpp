// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/difference.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "core/analysis/counterparts.hpp"
#include "core/base/statistics.hpp"
#include "core/graph/describe.hpp"
#include "core/replay/engine.hpp"

namespace prism::analysis {
namespace {

using graph::Job;
using graph::kNone;
using graph::Node;
using graph::Program;

std::string text_of(const Program& program, uint32_t text) {
  return text == kNone ? std::string() : program.texts[text];
}

graph::Labels labels_of(const Program& program, uint32_t node) {
  return program.labels.empty() ? graph::Labels{} : program.labels[node];
}

std::string name_of(const Program& program, uint32_t node) {
  return text_of(program, labels_of(program, node).name);
}

/// Programs of two jobs that are put together once per pair of classes.
class Pairing {
 public:
  Pairing(const Job& a, const Job& b) : a_(a), b_(b) {}
  /// By node of `rank` in b: the node in a, or kNone.
  const std::vector<uint32_t>& of(Rank rank) {
    const auto [entry, is_new] = known_.try_emplace({a_.class_of[rank], b_.class_of[rank]});
    if (is_new) {
      entry->second = counterparts(a_.program(rank), b_.program(rank));
    }
    return entry->second;
  }

 private:
  const Job& a_;
  const Job& b_;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> known_;
};

/// Looks for the first difference between one rank of two jobs.
class RankComparison {
 public:
  RankComparison(const Job& a, const Job& b, Rank rank, const std::vector<uint32_t>& a_of_b)
      : a_(a), b_(b), rank_(rank), a_of_b_(a_of_b), b_of_a_(a.program(rank).nodes.size(), kNone) {
    for (uint32_t node = 0; node < a_of_b.size(); ++node) {
      if (a_of_b[node] != kNone) {
        b_of_a_[a_of_b[node]] = node;
      }
    }
  }

  /// What the two have in its place; empty: no difference.
  std::pair<std::string, std::string> run() const {
    const uint32_t only_a = first_without(b_of_a_);
    const uint32_t only_b = first_without(a_of_b_);
    if (only_a != kNone) {
      return {in_words(a_, only_a), place_of(a_.program(rank_), only_a, b_, b_of_a_)};
    }
    if (only_b != kNone) {
      return {place_of(b_.program(rank_), only_b, a_, a_of_b_), in_words(b_, only_b)};
    }
    for (uint32_t node = 0; node < b_of_a_.size(); ++node) {
      const std::string what = differs_in(node, b_of_a_[node]);
      if (!what.empty()) {
        return {in_words(a_, node) + what, in_words(b_, b_of_a_[node])};
      }
    }
    return {};
  }

 private:
  static uint32_t first_without(const std::vector<uint32_t>& counterpart) {
    const auto place = std::find(counterpart.begin(), counterpart.end(), kNone);
    return place == counterpart.end() ? kNone : static_cast<uint32_t>(place - counterpart.begin());
  }

  std::string in_words(const Job& job, uint32_t node) const {
    const std::string name = name_of(job.program(rank_), node);
    return graph::describe_node(job, rank_, node) + (name.empty() ? "" : " '" + name + "'");
  }

  /// What `other` has where `program` has `node`, which `other` lacks: what follows the last common
  /// node of the lane.
  std::string place_of(const Program& program, uint32_t node, const Job& other,
                       const std::vector<uint32_t>& counterpart) const {
    const uint32_t lane = program.nodes[node].lane;
    const std::vector<Node>& nodes = other.program(rank_).nodes;
    uint32_t its_lane = kNone;
    uint32_t before = kNone;
    for (uint32_t id = 0; id < program.nodes.size(); ++id) {
      if (program.nodes[id].lane == lane && counterpart[id] != kNone) {
        its_lane = nodes[counterpart[id]].lane;
        before = id < node ? counterpart[id] : before;
      }
    }
    if (its_lane == kNone) {
      return "no such lane";
    }
    for (uint32_t id = before == kNone ? 0 : before + 1; id < nodes.size(); ++id) {
      if (nodes[id].lane == its_lane) {
        return in_words(other, id);
      }
    }
    return "nothing after " + in_words(other, before);
  }

  std::string differs_in(uint32_t node_a, uint32_t node_b) const {
    const Program& program_a = a_.program(rank_);
    const Program& program_b = b_.program(rank_);
    const Node& a = program_a.nodes[node_a];
    const Node& b = program_b.nodes[node_b];
    const auto phase = [](const Program& program, uint32_t node) {
      return text_of(program, labels_of(program, node).phase);
    };
    if (phase(program_a, node_a) != phase(program_b, node_b)) {
      return ", of another phase";
    }
    if (std::tie(a.dtype, a.reduction, a.root, a.input_bytes, a.output_bytes, a.iteration) !=
        std::tie(b.dtype, b.reduction, b.root, b.input_bytes, b.output_bytes, b.iteration)) {
      return ", of another size or type";
    }
    if (a.communicator != kNone && ranks_of(a_, a.communicator) != ranks_of(b_, b.communicator)) {
      return ", of other ranks";
    }
    for (uint32_t p = 0; p < a.part_count; ++p) {
      const graph::Part& part_a = program_a.parts[a.first_part + p];
      const graph::Part& part_b = program_b.parts[b.first_part + p];
      if (part_a.bytes != part_b.bytes || part_a.dtype != part_b.dtype ||
          peer_of(a_, part_a) != peer_of(b_, part_b)) {
        return ", with other messages";
      }
    }
    return dependencies(program_a, a, b_of_a_) == dependencies(program_b, b, {})
               ? ""
               : ", depending on other nodes";
  }

  const std::vector<Rank>& ranks_of(const Job& job, uint32_t slot) const {
    return job.communicators[job.communicator(rank_, slot)].ranks;
  }
  Rank peer_of(const Job& job, const graph::Part& part) const {
    return part.peer == graph::kAnySource ? kNone : job.peer(rank_, part);
  }
  static std::vector<uint32_t> dependencies(const Program& program, const Node& node,
                                            const std::vector<uint32_t>& renamed) {
    std::vector<uint32_t> list;
    list.reserve(node.dependency_count);
    for (uint32_t d = 0; d < node.dependency_count; ++d) {
      const uint32_t id = program.dependencies[node.first_dependency + d];
      list.push_back(renamed.empty() ? id : renamed[id]);
    }
    std::sort(list.begin(), list.end());
    return list;
  }

  const Job& a_;
  const Job& b_;
  Rank rank_;
  const std::vector<uint32_t>& a_of_b_;
  std::vector<uint32_t> b_of_a_;
};

/// Deviations of the calls of one kind and name.
struct Sample {
  uint64_t calls = 0;
  DurationNs total = 0;
  DurationNs other_total = 0;
  std::vector<double> duration;
  std::vector<double> start;
  std::vector<double> natural_duration;
  std::vector<double> natural_start;

  void add(const Sample& more) {
    calls += more.calls;
    total += more.total;
    other_total += more.other_total;
    const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(duration, more.duration);
    append(start, more.start);
    append(natural_duration, more.natural_duration);
    append(natural_start, more.natural_start);
  }
};

/// Kind, kind of lane, name.
using Call = std::tuple<graph::Kind, graph::LaneKind, std::string>;
using Samples = std::map<Call, Sample>;

const char* to_string(graph::LaneKind kind) {
  switch (kind) {
    case graph::LaneKind::Cpu:
      return "cpu";
    case graph::LaneKind::Stream:
      return "stream";
    case graph::LaneKind::Comm:
      break;
  }
  return "comm";
}

Figures figures_of(std::vector<double> values) {
  if (values.empty()) {
    return {};
  }
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<size_t>(
        std::llround(share * static_cast<double>(values.size() - 1)))];
  };
  return {at(0.5), at(0.95)};
}

std::vector<CallDeviation> rows_of(const Samples& samples) {
  std::vector<CallDeviation> rows;
  rows.reserve(samples.size());
  for (const auto& [call, sample] : samples) {
    CallDeviation row;
    row.kind = graph::to_string(std::get<0>(call));
    row.lane = to_string(std::get<1>(call));
    row.name = std::get<2>(call);
    row.calls = sample.calls;
    row.total = sample.total;
    row.change = sample.total == 0 ? 0
                                   : static_cast<double>(sample.other_total - sample.total) /
                                         static_cast<double>(sample.total);
    row.duration = figures_of(sample.duration);
    row.start = figures_of(sample.start);
    if (!sample.natural_start.empty()) {
      row.natural_duration = figures_of(sample.natural_duration);
      row.natural_start = figures_of(sample.natural_start);
    }
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const CallDeviation& a, const CallDeviation& b) {
    return a.total > b.total;
  });
  return rows;
}

Deviations deviations_of(const Samples& samples, uint64_t nodes, uint64_t left_out) {
  Samples kinds;
  for (const auto& [call, sample] : samples) {
    kinds[{std::get<0>(call), std::get<1>(call), ""}].add(sample);
  }
  return {rows_of(kinds), rows_of(samples), nodes, left_out};
}

/// A run with the times of all its nodes.
struct Replayed {
  const Run* run = nullptr;
  replay::ReplayResult result;

  const Job& job() const { return run->subject->job(); }
  TimeNs start(Rank rank, uint32_t node) const { return result.recorded[rank].nodes[node].start; }
  DurationNs own_time(Rank rank, uint32_t node) const {
    return graph::TimesOfRank(job(), run->times, rank).own_time(node);
  }
  Call call(Rank rank, uint32_t node) const {
    const Program& program = job().program(rank);
    const Node& of = program.nodes[node];
    return {of.kind, program.lanes[of.lane].kind, name_of(program, node)};
  }
  /// Of an iteration; of a run of several, the mean.
  double iteration_time() const {
    return std::max(
        1.0, static_cast<double>(result.end) / static_cast<double>(result.iteration_time.size()));
  }
};

Result<Replayed> replayed(const Run& run) {
  replay::ReplayOptions options;
  options.critical_path = false;
  for (Rank rank = 0; rank < run.subject->job().world_size; ++rank) {
    options.record.push_back(rank);
  }
  PRISM_TRY_ASSIGN(replay::ReplayResult result,
                   replay::replay(run.subject->job(), run.times, options));
  return Replayed{&run, std::move(result)};
}

double share(int64_t part, double of) {
  return std::abs(static_cast<double>(part)) / of;
}

/// Calls `tell` with (rank, node, own time, its median, start, its median) for each node of a rank
/// that has like ones; the medians are over those and itself.
template <typename Tell>
void compare_replicas(const Replayed& run, const Tell& tell) {
  const Subject& subject = *run.run->subject;
  for (const std::vector<Rank>& like : subject.layout().like) {
    if (like.size() < 2) {
      continue;
    }
    const size_t size = run.job().classes[subject.leading_class(like.front())].program.nodes.size();
    std::vector<std::vector<DurationNs>> durations(size);
    std::vector<std::vector<TimeNs>> starts(size);
    const auto for_each = [&](const auto& use) {
      for (const Rank rank : like) {
        for (uint32_t node = 0; node < run.job().program(rank).nodes.size(); ++node) {
          const uint32_t leading = subject.leading_node(rank, node);
          if (leading != kNone) {
            use(rank, node, leading);
          }
        }
      }
    };
    for_each([&](Rank rank, uint32_t node, uint32_t leading) {
      durations[leading].push_back(run.own_time(rank, node));
      starts[leading].push_back(run.start(rank, node));
    });
    std::vector<DurationNs> median_duration(size, 0);
    std::vector<TimeNs> median_start(size, 0);
    for (size_t node = 0; node < size; ++node) {
      if (!starts[node].empty()) {
        median_duration[node] = quantile(std::move(durations[node]), 0.5);
        median_start[node] = quantile(std::move(starts[node]), 0.5);
      }
    }
    for_each([&](Rank rank, uint32_t node, uint32_t leading) {
      tell(rank, node, median_duration[leading], median_start[leading]);
    });
  }
}

void add_natural(const Replayed& run, Samples& samples) {
  const double iteration = run.iteration_time();
  compare_replicas(run, [&](Rank rank, uint32_t node, DurationNs duration, TimeNs start) {
    const auto known = samples.find(run.call(rank, node));
    if (known == samples.end()) {
      return;  // the other trace has no such call
    }
    Sample& sample = known->second;
    if (duration > 0) {
      sample.natural_duration.push_back(
          share(run.own_time(rank, node) - duration, static_cast<double>(duration)));
    }
    sample.natural_start.push_back(share(run.start(rank, node) - start, iteration));
  });
}

}  // namespace

std::string first_difference(const Job& a, const Job& b, const std::string& a_name,
                             const std::string& b_name) {
  if (a.world_size != b.world_size) {
    return a_name + " has " + std::to_string(a.world_size) + " ranks, " + b_name + " has " +
           std::to_string(b.world_size);
  }
  Pairing pairing(a, b);
  for (Rank rank = 0; rank < a.world_size; ++rank) {
    const auto [in_a, in_b] = RankComparison(a, b, rank, pairing.of(rank)).run();
    if (!in_a.empty()) {
      return a_name + ": " + in_a + "\n" + b_name + ": " + in_b;
    }
  }
  return {};
}

Result<Deviations> between_traces(const std::vector<Run>& a, const std::vector<Run>& b) {
  Samples samples;
  uint64_t nodes = 0;
  uint64_t left_out = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    PRISM_TRY_ASSIGN(const Replayed first, replayed(a[i]));
    PRISM_TRY_ASSIGN(const Replayed second, replayed(b[i]));
    const double iteration = first.iteration_time();
    Pairing pairing(first.job(), second.job());
    const Rank ranks = std::min(first.job().world_size, second.job().world_size);
    for (Rank rank = 0; rank < ranks; ++rank) {
      const std::vector<uint32_t>& pairs = pairing.of(rank);
      uint64_t paired = 0;
      for (uint32_t node = 0; node < pairs.size(); ++node) {
        if (pairs[node] == kNone) {
          continue;
        }
        ++paired;
        Sample& sample = samples[first.call(rank, pairs[node])];
        const DurationNs before = first.own_time(rank, pairs[node]);
        const DurationNs after = second.own_time(rank, node);
        ++sample.calls;
        sample.total += before;
        sample.other_total += after;
        if (before > 0) {
          sample.duration.push_back(share(after - before, static_cast<double>(before)));
        }
        sample.start.push_back(
            share(second.start(rank, node) - first.start(rank, pairs[node]), iteration));
      }
      nodes += paired;
      left_out += first.job().program(rank).nodes.size() - paired;
    }
    add_natural(first, samples);
  }
  return deviations_of(samples, nodes, left_out);
}

Result<Deviations> between_replicas(const std::vector<Run>& runs) {
  Samples samples;
  uint64_t nodes = 0;
  uint64_t all = 0;
  for (const Run& one : runs) {
    PRISM_TRY_ASSIGN(const Replayed run, replayed(one));
    const double iteration = run.iteration_time();
    for (const std::vector<Rank>& like : run.run->subject->layout().like) {
      for (const Rank rank : like) {
        all += like.size() < 2 ? 0 : run.job().program(rank).nodes.size();
      }
    }
    compare_replicas(run, [&](Rank rank, uint32_t node, DurationNs duration, TimeNs start) {
      Sample& sample = samples[run.call(rank, node)];
      const DurationNs own = run.own_time(rank, node);
      ++nodes;
      ++sample.calls;
      sample.total += own;
      sample.other_total += own;
      if (duration > 0) {
        sample.duration.push_back(share(own - duration, static_cast<double>(duration)));
      }
      sample.start.push_back(share(run.start(rank, node) - start, iteration));
    });
  }
  return deviations_of(samples, nodes, all - nodes);
}

}  // namespace prism::analysis
