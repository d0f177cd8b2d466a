// SPDX-License-Identifier: Apache-2.0
/// How much of an iteration each stage, replica, rank and kind of operation is responsible for: the
/// time that would be saved if its nodes took what the median of their peers takes. Each figure is
/// the replay of one edit (edit.hpp), and that edit says exactly what it means:
///
///   stage S     --level 'stage=S kind=compute peers=stages'
///   replica R   --level 'replica=R kind=compute,communication,gap peers=replicas'
///   rank R      --level 'rank=R kind=compute,communication,gap peers=replicas'
///   compute     --level 'kind=compute peers=replicas'; gap likewise
///   all_reduce, ..., send, recv, transfer
///               --level 'kind=all_reduce peers=calls'
///
/// Figures of different rows do not add up: what one saves may be what another would have hidden.
/// A negative figure says that the peers are slower.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/analysis/subject.hpp"
#include "core/base/statistics.hpp"
#include "core/base/status.hpp"

namespace prism::analysis {

struct Responsible {
  std::string what;   ///< "stage 3", "rank 17", "all_reduce"
  std::string level;  ///< the edit
  Spread saved;       ///< ns, over the iterations
  double share = 0;   ///< of the iteration: the median over the iterations
};

struct Attribution {
  /// What saves most first. What has no peers is not there.
  std::vector<Responsible> stages;
  std::vector<Responsible> replicas;
  std::vector<Responsible> ranks;
  std::vector<Responsible> kinds;
  /// That were not tried. Ranks and replicas that deviate most from their like ranks (the sum of
  /// |own - median| over durations and gaps) come first, those that do not deviate are not counted;
  /// of stages the lowest.
  uint32_t stages_left_out = 0;
  uint32_t replicas_left_out = 0;
  uint32_t ranks_left_out = 0;
};
/// Of stages, of replicas and of ranks each: one replay of every run is needed for one.
inline constexpr uint32_t kMostCandidates = 16;

/// `runs`: at least one; `times[i]`: the iteration times of runs[i]. Errors: those of the replay.
Result<Attribution> attribute(const std::vector<Run>& runs,
                              const std::vector<std::vector<DurationNs>>& times);

}  // namespace prism::analysis
