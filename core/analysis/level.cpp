// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/level.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "core/analysis/replica_medians.hpp"
#include "core/base/statistics.hpp"

namespace prism::analysis {
namespace {

using graph::Job;
using graph::Kind;
using graph::kNone;
using graph::Node;
using graph::Program;

std::vector<bool> not_selected(const Job& job, const Selection& selection) {
  std::vector<bool> result(job.world_size);
  for (Rank rank = 0; rank < job.world_size; ++rank) {
    result[rank] = !selection.selects(rank);
  }
  return result;
}

class ReplicaLevel : public Level {
 public:
  ReplicaLevel(const Subject& subject, const graph::Times& times, const Selection& selection)
      : job_(subject.job()), medians_(subject, times, not_selected(subject.job(), selection)) {}

  uint64_t apply(Rank rank, const Marks& marks, graph::RankTimes& columns) override {
    const Program& program = job_.program(rank);
    uint64_t count = 0;
    const auto set = [&](graph::Column& column, uint32_t index, DurationNs median) {
      if (median != ReplicaMedians::kNone) {
        column.set(index, median);
        ++count;
      }
    };
    for (uint32_t id = 0; id < program.nodes.size(); ++id) {
      const Node& node = program.nodes[id];
      if (marks.nodes[id]) {
        set(columns.durations, id, medians_.duration(rank, id));
      }
      if (marks.gaps[id]) {
        set(columns.gaps, id, medians_.gap(rank, id));
      }
      for (uint32_t p = node.first_part; p < node.first_part + node.part_count; ++p) {
        if (marks.parts[p]) {
          set(columns.parts, p, medians_.part(rank, id, p));
        }
      }
    }
    return count;
  }

 private:
  const Job& job_;
  ReplicaMedians medians_;
};

graph::Labels labels_of(const Program& program, uint32_t node) {
  return program.labels.empty() ? graph::Labels{} : program.labels[node];
}

std::string text_of(const Program& program, uint32_t text) {
  return text == kNone ? std::string() : program.texts[text];
}

class StageLevel : public Level {
 public:
  StageLevel(const Subject& subject, const graph::Times& times, const Selection& selection)
      : subject_(subject), totals_(subject.job().world_size) {
    const Job& job = subject.job();
    keys_.resize(job.classes.size());
    for (Rank rank = 0; rank < job.world_size; ++rank) {
      if (subject.layout().stage[rank] >= 0) {
        add(rank, times, selection.marks(rank));
      }
    }
    find_medians(not_selected(job, selection));
  }

  uint64_t apply(Rank rank, const Marks& marks, graph::RankTimes& columns) override {
    const int32_t stage = subject_.layout().stage[rank];
    if (stage < 0) {
      return 0;
    }
    uint64_t count = 0;
    const std::vector<uint32_t>& keys = keys_of(rank);
    for (uint32_t id = 0; id < keys.size(); ++id) {
      if (!marks.nodes[id] || keys[id] == kNone) {
        continue;
      }
      const DurationNs own = totals_[rank].at(keys[id]);
      const auto median = medians_.find({stage, keys[id]});
      if (own > 0 && median != medians_.end()) {
        const double share = static_cast<double>(columns.durations[id]) / static_cast<double>(own);
        columns.durations.set(id, std::llround(share * static_cast<double>(median->second)));
        ++count;
      }
    }
    return count;
  }

 private:
  /// Kind of lane, phase, micro-batch, chunk, iteration.
  using Work = std::tuple<graph::LaneKind, std::string, int32_t, int32_t, uint32_t>;

  /// By node: number of the work that it is part of; kNone: no computation.
  const std::vector<uint32_t>& keys_of(Rank rank) {
    std::vector<uint32_t>& keys = keys_[subject_.job().class_of[rank]];
    const Program& program = subject_.job().program(rank);
    if (keys.empty()) {
      keys.assign(program.nodes.size(), kNone);
      for (uint32_t id = 0; id < program.nodes.size(); ++id) {
        const Node& node = program.nodes[id];
        if (node.kind == Kind::Compute) {
          const graph::Labels labels = labels_of(program, id);
          const Work work{program.lanes[node.lane].kind, text_of(program, labels.phase),
                          labels.micro_batch, labels.chunk, node.iteration};
          const auto number = static_cast<uint32_t>(numbers_.size());
          keys[id] = numbers_.try_emplace(work, number).first->second;
        }
      }
    }
    return keys;
  }

  void add(Rank rank, const graph::Times& times, const Marks& marks) {
    const std::vector<uint32_t>& keys = keys_of(rank);
    const graph::TimesOfRank own(subject_.job(), times, rank);
    for (uint32_t id = 0; id < keys.size(); ++id) {
      if (keys[id] != kNone && marks.nodes[id]) {
        totals_[rank][keys[id]] += own.duration(id);
      }
    }
  }

  void find_medians(const std::vector<bool>& counts) {
    const Layout& layout = subject_.layout();
    for (int32_t stage = 0; stage < static_cast<int32_t>(layout.stages); ++stage) {
      std::map<uint32_t, std::vector<DurationNs>> counting;
      std::map<uint32_t, std::vector<DurationNs>> all;
      for (Rank rank = 0; rank < totals_.size(); ++rank) {
        for (const auto& [key, total] : totals_[rank]) {
          all[key].push_back(total);
          if (counts[rank] && layout.stage[rank] != stage) {
            counting[key].push_back(total);
          }
        }
      }
      const bool some_count = !counting.empty();
      for (auto& [key, totals] : some_count ? counting : all) {
        medians_[{stage, key}] = quantile(std::move(totals), 0.5);
      }
    }
  }

  const Subject& subject_;
  std::map<Work, uint32_t> numbers_;
  std::vector<std::vector<uint32_t>> keys_;                     ///< by class and node
  std::vector<std::map<uint32_t, DurationNs>> totals_;          ///< by rank and work
  std::map<std::pair<int32_t, uint32_t>, DurationNs> medians_;  ///< by stage and work
};

class CallLevel : public Level {
 public:
  CallLevel(const Subject& subject, const graph::Times& times, const Selection& selection)
      : job_(subject.job()), nodes_(job_.classes.size()), parts_(job_.classes.size()) {
    std::vector<bool> counts = not_selected(job_, selection);
    if (std::find(counts.begin(), counts.end(), true) == counts.end()) {
      counts.assign(counts.size(), true);
    }
    std::vector<std::vector<DurationNs>> values;
    for (Rank rank = 0; rank < job_.world_size; ++rank) {
      number_calls(job_.class_of[rank]);
      values.resize(numbers_.size());
      if (counts[rank]) {
        add(rank, times, selection.marks(rank), values);
      }
    }
    medians_.reserve(values.size());
    for (std::vector<DurationNs>& of_call : values) {
      medians_.push_back(of_call.empty() ? -1 : quantile(std::move(of_call), 0.5));
    }
  }

  uint64_t apply(Rank rank, const Marks& marks, graph::RankTimes& columns) override {
    uint64_t count = 0;
    const auto level = [&](const std::vector<bool>& marked, const std::vector<uint32_t>& calls,
                           graph::Column& column) {
      for (uint32_t i = 0; i < calls.size(); ++i) {
        if (marked[i] && medians_[calls[i]] >= 0) {
          column.set(i, medians_[calls[i]]);
          ++count;
        }
      }
    };
    level(marks.nodes, nodes_[job_.class_of[rank]], columns.durations);
    level(marks.parts, parts_[job_.class_of[rank]], columns.parts);
    return count;
  }

 private:
  /// Kind, kind of lane or element type, name, phase, size of the group, bytes in and out.
  using Call = std::tuple<Kind, uint8_t, std::string, std::string, size_t, uint64_t, uint64_t>;

  void number_calls(uint32_t c) {
    const Program& program = job_.classes[c].program;
    if (!nodes_[c].empty()) {
      return;
    }
    const auto number = [&](const Call& call) {
      return numbers_.try_emplace(call, static_cast<uint32_t>(numbers_.size())).first->second;
    };
    nodes_[c].reserve(program.nodes.size());
    for (uint32_t id = 0; id < program.nodes.size(); ++id) {
      const Node& node = program.nodes[id];
      const graph::Labels labels = labels_of(program, id);
      const bool collective = graph::is_collective(node.kind);
      const size_t members = collective ? program.communicators[node.communicator].ranks.size() : 0;
      const auto lane = static_cast<uint8_t>(program.lanes[node.lane].kind);
      nodes_[c].push_back(
          number({node.kind, collective ? node.dtype : lane, text_of(program, labels.name),
                  text_of(program, labels.phase), members, node.input_bytes, node.output_bytes}));
    }
    parts_[c].reserve(program.parts.size());
    for (const graph::Part& part : program.parts) {
      const size_t members = program.communicators[part.communicator].ranks.size();
      parts_[c].push_back(number({part.kind, part.dtype, "", "", members, part.bytes, 0}));
    }
  }

  void add(Rank rank, const graph::Times& times, const Marks& marks,
           std::vector<std::vector<DurationNs>>& values) {
    const graph::TimesOfRank own(job_, times, rank);
    const uint32_t c = job_.class_of[rank];
    for (uint32_t id = 0; id < nodes_[c].size(); ++id) {
      if (marks.nodes[id]) {
        values[nodes_[c][id]].push_back(own.duration(id));
      }
    }
    for (uint32_t part = 0; part < parts_[c].size(); ++part) {
      if (marks.parts[part]) {
        values[parts_[c][part]].push_back(own.part(part));
      }
    }
  }

  const Job& job_;
  std::map<Call, uint32_t> numbers_;
  std::vector<std::vector<uint32_t>> nodes_;  ///< by class and node: number of the call
  std::vector<std::vector<uint32_t>> parts_;
  std::vector<DurationNs> medians_;  ///< by call; -1: none
};

}  // namespace

std::unique_ptr<Level> make_level(Peers peers, const Subject& subject, const graph::Times& times,
                                  const Selection& selection) {
  switch (peers) {
    case Peers::Replicas:
      return std::make_unique<ReplicaLevel>(subject, times, selection);
    case Peers::Stages:
      return std::make_unique<StageLevel>(subject, times, selection);
    case Peers::Calls:
      break;
  }
  return std::make_unique<CallLevel>(subject, times, selection);
}

}  // namespace prism::analysis
