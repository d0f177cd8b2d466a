// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/replica_medians.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/base/statistics.hpp"

namespace prism::analysis {
namespace {

constexpr DurationNs kNotComputed = -2;

}  // namespace

ReplicaMedians::ReplicaMedians(const Subject& subject, const graph::Times& times,
                               std::vector<bool> counts)
    : subject_(subject),
      times_(times),
      counts_(std::move(counts)),
      groups_(subject.layout().like.size()),
      own_nodes_(subject.job().classes.size()) {}

ReplicaMedians::Group& ReplicaMedians::group_of(Rank rank) {
  const uint32_t number = subject_.layout().like_of[rank];
  Group& group = groups_[number];
  if (!group.counting.empty()) {
    return group;
  }
  const std::vector<Rank>& like = subject_.layout().like[number];
  for (const Rank other : like) {
    if (counts_[other]) {
      group.counting.push_back(other);
    }
  }
  if (group.counting.empty()) {
    group.counting = like;
  }
  const graph::Program& program = subject_.job().classes[subject_.leading_class(rank)].program;
  group.durations.assign(program.nodes.size(), kNotComputed);
  group.gaps.assign(program.nodes.size(), kNotComputed);
  group.parts.assign(program.parts.size(), kNotComputed);
  return group;
}

uint32_t ReplicaMedians::own_node(Rank rank, uint32_t leading) {
  const uint32_t number = subject_.job().class_of[rank];
  const uint32_t leader = subject_.leading_class(rank);
  if (number == leader) {
    return leading;
  }
  std::vector<uint32_t>& own = own_nodes_[number];
  if (own.empty()) {
    const graph::Program& program = subject_.job().classes[number].program;
    own.assign(subject_.job().classes[leader].program.nodes.size(), graph::kNone);
    for (uint32_t node = 0; node < program.nodes.size(); ++node) {
      const uint32_t its = subject_.leading_node(rank, node);
      if (its != graph::kNone) {
        own[its] = node;
      }
    }
  }
  return own[leading];
}

DurationNs ReplicaMedians::compute(const Group& group, uint32_t leading, What what,
                                   uint32_t nth_part) {
  std::vector<DurationNs> values;
  values.reserve(group.counting.size());
  for (const Rank rank : group.counting) {
    const uint32_t node = own_node(rank, leading);
    if (node == graph::kNone) {
      continue;
    }
    const graph::TimesOfRank its(subject_.job(), times_, rank);
    const graph::Node& of = subject_.job().program(rank).nodes[node];
    if (what == What::Duration) {
      values.push_back(its.duration(node));
    } else if (what == What::Gap) {
      values.push_back(its.gap(node));
    } else if (nth_part < of.part_count) {
      values.push_back(its.part(of.first_part + nth_part));
    }
  }
  return values.empty() ? kNone : quantile(std::move(values), 0.5);
}

DurationNs ReplicaMedians::median(Rank rank, uint32_t node, What what, uint32_t nth_part) {
  const uint32_t leading = subject_.leading_node(rank, node);
  if (leading == graph::kNone ||
      subject_.layout().like[subject_.layout().like_of[rank]].size() < 2) {
    return kNone;
  }
  Group& group = group_of(rank);
  const graph::Node& of =
      subject_.job().classes[subject_.leading_class(rank)].program.nodes[leading];
  if (what == What::Part && nth_part >= of.part_count) {
    return kNone;
  }
  DurationNs& known = what == What::Duration ? group.durations[leading]
                      : what == What::Gap    ? group.gaps[leading]
                                             : group.parts[of.first_part + nth_part];
  if (known == kNotComputed) {
    known = compute(group, leading, what, nth_part);
  }
  return known;
}

DurationNs ReplicaMedians::part(Rank rank, uint32_t node, uint32_t part) {
  return median(rank, node, What::Part, part - subject_.job().program(rank).nodes[node].first_part);
}

std::vector<DurationNs> deviations_from_replicas(const Subject& subject,
                                                 const graph::Times& times) {
  const graph::Job& job = subject.job();
  ReplicaMedians medians(subject, times, std::vector<bool>(job.world_size, true));
  std::vector<DurationNs> result(job.world_size, 0);
  for (Rank rank = 0; rank < job.world_size; ++rank) {
    const graph::Program& program = job.program(rank);
    const graph::TimesOfRank own(job, times, rank);
    const auto add = [&](DurationNs value, DurationNs median) {
      result[rank] += median == ReplicaMedians::kNone ? 0 : std::abs(value - median);
    };
    for (uint32_t node = 0; node < program.nodes.size(); ++node) {
      const graph::Node& of = program.nodes[node];
      add(own.gap(node), medians.gap(rank, node));
      if (!graph::has_parts(of.kind)) {
        add(own.duration(node), medians.duration(rank, node));
      }
      for (uint32_t p = of.first_part; p < of.first_part + of.part_count; ++p) {
        add(own.part(p), medians.part(rank, node, p));
      }
    }
  }
  return result;
}

}  // namespace prism::analysis
