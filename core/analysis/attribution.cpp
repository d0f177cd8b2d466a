// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/attribution.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "core/analysis/edit.hpp"
#include "core/analysis/outcome.hpp"
#include "core/analysis/replica_medians.hpp"

namespace prism::analysis {
namespace {

using graph::Kind;

constexpr const char* kEverything = " kind=compute,communication,gap peers=replicas";

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// The places of what is not 0, the largest first, of equal ones the lowest.
std::vector<uint32_t> largest_first(const std::vector<DurationNs>& values) {
  std::vector<uint32_t> places;
  places.reserve(values.size());
  for (uint32_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0) {
      places.push_back(i);
    }
  }
  std::stable_sort(places.begin(), places.end(),
                   [&](uint32_t a, uint32_t b) { return values[a] > values[b]; });
  return places;
}

class Attributing {
 public:
  Attributing(const std::vector<Run>& runs, const std::vector<std::vector<DurationNs>>& times)
      : runs_(runs), times_(times) {}

  Result<Attribution> run() {
    Attribution result;
    uint32_t stages = 0;
    uint32_t replicas = 0;
    for (const Run& run : runs_) {
      stages = std::max(stages, run.subject->layout().stages);
      replicas = std::max(replicas, run.subject->layout().replicas);
    }
    stages = stages < 2 ? 0 : stages;  // one alone has no peers
    for (uint32_t stage = 0; stage < std::min(stages, kMostCandidates); ++stage) {
      const std::string number = std::to_string(stage);
      PRISM_TRY(
          add(result.stages, "stage " + number, "stage=" + number + " kind=compute peers=stages"));
    }
    result.stages_left_out = stages - std::min(stages, kMostCandidates);
    const std::vector<DurationNs> deviations = deviations_of_ranks();
    const std::vector<uint32_t> ranks = largest_first(deviations);
    const std::vector<uint32_t> copies =
        replicas < 2 ? std::vector<uint32_t>() : largest_first(by_replica(deviations, replicas));
    const size_t tried = std::min<size_t>(copies.size(), kMostCandidates);
    for (size_t i = 0; i < tried; ++i) {
      const std::string number = std::to_string(copies[i]);
      PRISM_TRY(add(result.replicas, "replica " + number, "replica=" + number + kEverything));
    }
    result.replicas_left_out = static_cast<uint32_t>(copies.size() - tried);
    const size_t most = std::min<size_t>(ranks.size(), kMostCandidates);
    for (size_t i = 0; i < most; ++i) {
      const std::string number = std::to_string(ranks[i]);
      PRISM_TRY(add(result.ranks, "rank " + number, "rank=" + number + kEverything));
    }
    result.ranks_left_out = static_cast<uint32_t>(ranks.size() - most);
    PRISM_TRY(add_kinds(result.kinds));
    for (std::vector<Responsible>* list :
         {&result.stages, &result.replicas, &result.ranks, &result.kinds}) {
      std::stable_sort(list->begin(), list->end(), [](const Responsible& a, const Responsible& b) {
        return a.saved.median > b.saved.median;
      });
    }
    return result;
  }

 private:
  /// By rank, over all runs.
  std::vector<DurationNs> deviations_of_ranks() const {
    std::vector<DurationNs> sums;
    for (const Run& run : runs_) {
      const std::vector<DurationNs> its = deviations_from_replicas(*run.subject, run.times);
      sums.resize(std::max(sums.size(), its.size()), 0);
      std::transform(its.begin(), its.end(), sums.begin(), sums.begin(), std::plus<>());
    }
    return sums;
  }

  std::vector<DurationNs> by_replica(const std::vector<DurationNs>& deviations,
                                     uint32_t replicas) const {
    const std::vector<uint32_t>& replica = runs_.front().subject->layout().replica;
    std::vector<DurationNs> sums(replicas, 0);
    for (size_t rank = 0; rank < std::min(deviations.size(), replica.size()); ++rank) {
      sums[replica[rank]] += deviations[rank];
    }
    return sums;
  }

  Status add_kinds(std::vector<Responsible>& list) {
    std::set<Kind> kinds;
    for (const Run& run : runs_) {
      for (const graph::Class& c : run.subject->job().classes) {
        for (const graph::Node& node : c.program.nodes) {
          if (!graph::has_parts(node.kind)) {
            kinds.insert(node.kind);
          }
        }
        for (const graph::Part& part : c.program.parts) {
          kinds.insert(part.kind);
        }
      }
    }
    PRISM_TRY(add(list, "compute", "kind=compute peers=replicas"));
    PRISM_TRY(add(list, "gap", "kind=gap peers=replicas"));
    kinds.erase(Kind::Compute);
    for (const Kind kind : kinds) {
      const std::string name = graph::to_string(kind);
      PRISM_TRY(add(list, name, "kind=" + name + " peers=calls"));
    }
    return {};
  }

  Status add(std::vector<Responsible>& list, std::string what, const std::string& level) {
    Result<Edit> edit = Edit::parse(Operation::Level, level);
    PRISM_ASSERT(edit.ok());
    std::vector<DurationNs> saved;
    std::vector<double> shares;
    bool has_peers = false;
    for (size_t i = 0; i < runs_.size(); ++i) {
      graph::Times times = runs_[i].times;
      PRISM_TRY_ASSIGN(const Edited edited,
                       edit->apply(*runs_[i].subject, runs_[i].iteration, times));
      has_peers |= edited.changed > 0;
      std::vector<DurationNs> now = times_[i];
      if (edited.changed > 0) {
        PRISM_TRY_ASSIGN(now, iteration_times(runs_[i], times));
      }
      for (size_t k = 0; k < now.size(); ++k) {
        const DurationNs before = times_[i][k];
        saved.push_back(before - now[k]);
        shares.push_back(
            before == 0 ? 0 : static_cast<double>(saved.back()) / static_cast<double>(before));
      }
    }
    if (has_peers) {
      list.push_back({std::move(what), "--level '" + level + "'", spread_of(saved),
                      median_of(std::move(shares))});
    }
    return {};
  }

  const std::vector<Run>& runs_;
  const std::vector<std::vector<DurationNs>>& times_;
};

}  // namespace

Result<Attribution> attribute(const std::vector<Run>& runs,
                              const std::vector<std::vector<DurationNs>>& times) {
  return Attributing(runs, times).run();
}

}  // namespace prism::analysis
