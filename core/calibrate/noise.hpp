// SPDX-License-Identifier: Apache-2.0
/// How the times of a job vary, and times as another iteration of all its ranks might have them.
///
/// A collective waits for the slowest of its ranks. Where ranks share measured times they are
/// never slow at different moments, so that a replay of them is too short, the more so the more
/// ranks there are. What is missing is the part of the variation that is independent between ranks
/// (paper 5.3 measures one replica for all); what slows all of them at once is no part of it, nor
/// is a rank that is always slow. Each compute node and each gap of a measured rank is taken for
///
///   level(rank, node) x common(run, node) x load(replica, run, micro-batch) x pace(rank, run)
///                     x residual(rank, run, node)
///
///   level     its mean over the runs: what the rank is, persistently
///   common    how much longer the run was for all measured ranks (over all nodes), and how much
///             longer the node was for all measured ranks of the group in that run
///   load      how much longer the micro-batch was, in all stages of the replica: its data
///   pace      how much longer the run was for this rank alone, over all nodes
///   residual  the rest, of which nodes are independent
///
/// Runs are the samples of the trace. Groups are those of graph::replicas_of, and replica i is made
/// of the i-th members of all groups.
///
/// An effect over many values is told from chance by the variance that it would have were there no
/// such effect: only what goes beyond that is taken for it (method of moments). So one rank that
/// was measured shows nothing in common with others, and one node nothing in common with other
/// nodes. What ranks of different slices have in common cannot be seen, since they ran at different
/// times: it is taken for independent.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/status.hpp"
#include "core/graph/trace.hpp"

namespace prism::calibrate {

/// Of the variance of the times of a group's nodes between its measured ranks and runs, in ns^2
/// summed over nodes. They add up to 1, or are 0 where nothing varies or there is one run.
struct NoiseShares {
  double common = 0;            ///< to all measured ranks of a run
  double persistent = 0;        ///< of a rank, in all runs
  double independent = 0;       ///< between ranks and runs
  std::vector<Rank> ranks;      ///< that have its noise, ascending: the group, and who has
                                ///< times from it
  uint32_t measured_ranks = 0;  ///< of the group, in every run
};

class Noise {
 public:
  /// From the ranks of `kind` that were measured (`times_from`, as in graph::Trace). `kind.job`
  /// must outlive the result.
  /// A rank that some samples have no times of counts for its level alone.
  /// Errors: no samples, no measured rank, a rank with times from one that has none or has
  /// another structure.
  /// Memory: 4 bytes for each measured time that varies, twice that while it is estimated.
  static Result<Noise> estimate(const graph::IterationKind& kind,
                                const std::vector<Rank>& times_from);

  /// By group; groups ascend.
  const std::vector<NoiseShares>& shares() const { return shares_; }

  /// Mean times: of the measured ranks their own, of the others those of the rank that they have
  /// them from. Ranks without times: as the programs.
  const graph::Times& levels() const { return levels_; }

  /// One iteration: for every rank its level, with the common part of a run drawn for all, a
  /// load for each micro-batch of each replica, a pace for each rank and a residual for each
  /// compute node and gap. Communications and transfers are as in `levels`: of those the slowest
  /// member is what was measured already.
  ///
  /// Where as many runs of ranks were measured as there are ranks to draw them for (32 at least),
  /// load, pace and residuals are drawn together: all of one run of one replica, so that what came
  /// together stays together. Fewer cannot show how slow the slowest is; there each part is drawn
  /// for itself, and residuals from pools: of the node where 32 were measured, else of all nodes of
  /// the group that are alike (label, lane, duration within a factor of 2), and where those are
  /// few, of the nodes of that lane and duration. Noise in rare long bursts is spread by that over
  /// more iterations than it has.
  ///
  /// What is drawn is stretched so that its variance is that of a new run rather than of those few
  /// that the mean was taken from; less so for measured ranks, whose means differ by chance as
  /// well.
  ///
  /// The same for the same seed and iteration. 4 bytes per node, gap and part of every rank.
  /// May be called from several threads.
  graph::Times draw(uint64_t seed, uint64_t iteration) const;

 private:
  friend class GroupNoiseEstimate;
  friend class NoiseEstimate;
  struct Pool {
    uint32_t first = 0;  ///< into `residuals`
    uint32_t count = 0;
  };
  /// A node's duration or gap that varies.
  struct Cell {
    uint32_t node = 0;
    bool gap = false;
    int32_t micro_batch = -1;
    Pool pool;
  };
  struct OfGroup {
    std::vector<Cell> cells;  ///< in order of nodes
    std::vector<float> residuals;
    std::vector<float> paces;                ///< of rank and run, less 1
    std::vector<std::vector<float>> common;  ///< by run, by cell
    float stretch = 1;                       ///< of residuals, paces and loads
  };

  graph::RankTimes draw_rank(Rank rank, uint64_t key, uint32_t run, uint64_t replica_key) const;

  const graph::Job* job_ = nullptr;
  uint32_t runs_ = 0;
  bool whole_ = false;                ///< runs are drawn as they were: there are no loads and paces
  std::vector<bool> measured_;        ///< by rank
  std::vector<uint32_t> group_of_;    ///< by rank
  std::vector<uint32_t> replica_of_;  ///< by rank
  graph::Times levels_;
  std::vector<OfGroup> groups_;
  std::vector<float> loads_;  ///< of micro-batches of a replica in a run, less 1
  std::vector<NoiseShares> shares_;
};

}  // namespace prism::calibrate
