// SPDX-License-Identifier: Apache-2.0
/// Whether ranks of equal structure also take equally long, so that the times of one may stand for
/// all (paper 5.3). Unequal sequence lengths and slow devices both break it.
///
/// Only the durations of compute nodes are compared, of ranks that were measured:
///   outlier       a rank whose compute time, summed over the iteration, lies off the median of its
///                 replicas of the same run by more than twice the spread of that ratio from run to
///                 run, and by more than 2 % (one run: 5 %)
///   same-run      how far the same node of replicas lies apart in one run: the standard deviation
///                 of the logarithm, weighted by time, after what is persistent of a rank is taken
///                 out
///   sharing       the iteration is replayed once with all times that were measured and once with
///                 those of one replica for all
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/status.hpp"
#include "core/graph/trace.hpp"

namespace prism::calibrate {

struct Outlier {
  Rank rank = 0;
  double factor = 1;       ///< its compute time over that of its replicas (the median)
  double run_spread = -1;  ///< of that ratio from run to run (standard deviation); -1: one run
  uint32_t replicas = 0;   ///< the others that were measured
};

struct ReplicaCheck {
  uint32_t groups = 0;    ///< of replicas of which two and more were measured
  uint32_t compared = 0;  ///< ranks in them
  uint32_t runs = 0;
  std::vector<Outlier> outliers;  ///< farthest off first
  double same_run_spread = 0;
  /// Of the deviations of forward and backward of one micro-batch on one rank: near 1 where the
  /// micro-batches themselves differ. 0 where that is not known.
  double work_correlation = 0;
  double sharing_error = 0;  ///< median over runs and replicas: (shared - own) / own
  double sharing_worst = 0;

  bool comparable() const { return groups > 0; }
  /// The times of one replica may stand for the others.
  bool holds() const;
  /// What does not hold, in sentences with numbers; one saying that it holds.
  std::vector<std::string> in_words() const;
};

/// Looks at the most frequent kind of iteration. Errors: those of the replay.
Result<ReplicaCheck> check_replicas(const graph::Trace& trace);

}  // namespace prism::calibrate
