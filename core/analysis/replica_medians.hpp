// SPDX-License-Identifier: Apache-2.0
/// What a node takes at the median of the ranks that are like its own.
#pragma once

#include <cstdint>
#include <vector>

#include "core/analysis/subject.hpp"
#include "core/graph/times.hpp"

namespace prism::analysis {

/// Computes a median when it is asked for, and keeps it. Not thread-safe.
/// Memory: 16 bytes per node and 8 per part of a class of each group of like ranks that is asked
/// for, and 4 bytes per node of the other classes.
class ReplicaMedians {
 public:
  static constexpr DurationNs kNone = -1;  ///< nothing to compare with

  /// `counts`: by rank, whether it is one of those whose median is taken; where none of a group of
  /// like ranks is, all are. `subject` and `times` must outlive it.
  ReplicaMedians(const Subject& subject, const graph::Times& times, std::vector<bool> counts);

  /// In ns, of the node of the leading class that corresponds to `node` of `rank`, over the ranks
  /// that count and have one. kNone: the rank has no like one, or the node no counterpart.
  DurationNs duration(Rank rank, uint32_t node) { return median(rank, node, What::Duration, 0); }
  DurationNs gap(Rank rank, uint32_t node) { return median(rank, node, What::Gap, 0); }
  /// `part`: index into the program's parts, one of `node`.
  DurationNs part(Rank rank, uint32_t node, uint32_t part);

 private:
  enum class What : uint8_t { Duration, Gap, Part };
  struct Group {
    std::vector<Rank> counting;
    std::vector<DurationNs> durations;  ///< by node of the leading class
    std::vector<DurationNs> gaps;
    std::vector<DurationNs> parts;
  };
  Group& group_of(Rank rank);
  uint32_t own_node(Rank rank, uint32_t leading);
  DurationNs median(Rank rank, uint32_t node, What what, uint32_t nth_part);
  DurationNs compute(const Group& group, uint32_t leading, What what, uint32_t nth_part);

  const Subject& subject_;
  const graph::Times& times_;
  std::vector<bool> counts_;
  std::vector<Group> groups_;                     ///< by group of like ranks
  std::vector<std::vector<uint32_t>> own_nodes_;  ///< by class: the reverse of leading_node
};

/// By rank: sum over its nodes of how far duration and gap are from the median of all like ranks,
/// in ns. 0 where there are none.
std::vector<DurationNs> deviations_from_replicas(const Subject& subject, const graph::Times& times);

}  // namespace prism::analysis
