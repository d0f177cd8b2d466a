// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/share.hpp"

#include <algorithm>
#include <iterator>

#include "core/graph/replicas.hpp"

namespace prism::calibrate {
namespace {

void share(graph::IterationKind& kind, std::vector<Rank>& times_from) {
  const graph::Replicas replicas = graph::replicas_of(kind.job);
  for (const std::vector<Rank>& group : replicas.groups) {
    std::vector<Rank> measured;
    std::copy_if(group.begin(), group.end(), std::back_inserter(measured),
                 [&](Rank rank) { return times_from[rank] == rank; });
    if (measured.empty()) {
      continue;
    }
    size_t turn = 0;
    for (const Rank rank : group) {
      if (times_from[rank] == rank) {
        continue;
      }
      const Rank from = measured[turn++ % measured.size()];
      times_from[rank] = from;
      for (graph::Sample& sample : kind.samples) {
        sample.times.set_of[rank] = sample.times.set_of[from];
      }
    }
  }
}

}  // namespace

Coverage share_times(graph::Trace& trace) {
  std::vector<Rank> measured = trace.times_from;
  for (graph::IterationKind& kind : trace.kinds) {
    trace.times_from = measured;
    share(kind, trace.times_from);
  }
  Coverage coverage;
  for (Rank rank = 0; rank < trace.times_from.size(); ++rank) {
    const Rank from = trace.times_from[rank];
    (from == rank           ? coverage.measured
     : from == graph::kNone ? coverage.missing
                            : coverage.shared)
        .push_back(rank);
  }
  return coverage;
}

}  // namespace prism::calibrate
