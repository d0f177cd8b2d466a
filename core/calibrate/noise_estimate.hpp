// SPDX-License-Identifier: Apache-2.0
/// Takes the parts of noise.hpp out of measured times, one after another. Internal to
/// core/calibrate.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "core/calibrate/noise.hpp"

namespace prism::calibrate {

/// The measured ranks of one group.
class GroupNoiseEstimate {
 public:
  /// `ranks` of a group of `members`, more than none, in more than one run.
  GroupNoiseEstimate(const graph::IterationKind& kind, size_t members, std::vector<Rank> ranks,
                     const graph::Times& levels);

  /// Times of one run as they would be had it been like the others: each divided by the effect of
  /// its run (mean 1, of variance `run_variance` as far as it is not chance).
  void load(const std::vector<double>& run_effects, double run_variance);
  void remove_common(NoiseShares& shares);

  /// Nodes of a micro-batch, summed over the group.
  struct Sums {
    double level = 0;
    double parts = 0;      ///< squares of the nodes' levels
    double longer = 0;     ///< of one run, ns
    double by_chance = 0;  ///< squares of how much longer the nodes were
  };
  /// Adds to `sums` (by micro-batch) what this group shows of one measured rank in one run.
  void add_loads(size_t rank, size_t run, std::map<int32_t, Sums>& sums) const;
  /// `loads` (by micro-batch) of that rank in that run, less 1.
  void remove_loads(size_t rank, size_t run, const std::map<int32_t, double>& loads);

  void remove_paces();
  /// Pools of residuals, and how far to stretch them beside loads of variance `load_variance`.
  void make_pools(double load_variance);

  /// Whether there are as many runs of ranks as the group has members.
  bool shows_the_slowest() const;
  const std::vector<Rank>& ranks() const { return ranks_; }
  Noise::OfGroup take() && { return std::move(out_); }

 private:
  using Alike = std::tuple<bool, uint32_t, uint32_t, uint32_t, int>;

  size_t cells() const { return out_.cells.size(); }
  /// What is left of the time of a cell, relative to the level.
  float& rest(size_t rank, size_t run, size_t cell) {
    return rest_[(rank * runs_ + run) * cells() + cell];
  }
  float rest(size_t rank, size_t run, size_t cell) const {
    return rest_[(rank * runs_ + run) * cells() + cell];
  }
  double& level(size_t rank, size_t cell) { return level_[rank * cells() + cell]; }
  double level(size_t rank, size_t cell) const { return level_[rank * cells() + cell]; }

  void find_cells(const graph::Times& levels);
  double persistent(size_t cell) const;
  Alike alike(size_t cell, bool closely) const;
  void make_pool(const std::vector<size_t>& members);

  const graph::IterationKind& kind_;
  const graph::Program& program_;
  size_t members_;
  std::vector<Rank> ranks_;
  size_t runs_;
  std::vector<double> run_effects_;
  double run_variance_ = 0;
  std::vector<float> rest_;
  std::vector<double> level_;
  std::vector<double> weight_;       ///< by cell: mean square of the levels, ns^2
  std::vector<double> independent_;  ///< by cell: relative variance
  double drawn_ = 0;                 ///< variance of the pools, ns^2
  Noise::OfGroup out_;
};

/// The whole job.
class NoiseEstimate {
 public:
  NoiseEstimate(const graph::IterationKind& kind, const std::vector<Rank>& times_from)
      : kind_(kind), job_(kind.job), times_from_(times_from), runs_(kind.samples.size()) {}

  Result<Noise> run();

 private:
  void find_groups();
  Status find_measured();
  void set_levels();
  void find_run_effects();
  double total(Rank rank, size_t run) const;
  void remove_loads();

  const graph::IterationKind& kind_;
  const graph::Job& job_;
  const std::vector<Rank>& times_from_;
  size_t runs_;
  std::vector<uint32_t> group_of_;                 ///< by rank: which it is in
  std::vector<std::vector<Rank>> ranks_of_group_;  ///< those that were measured
  std::vector<double> run_effects_;                ///< by run; mean 1
  double run_variance_ = 0;                        ///< of what is true of them
  double load_variance_ = 0;
  std::vector<GroupNoiseEstimate> groups_;  ///< those that show noise
  std::vector<uint32_t> group_numbers_;     ///< theirs in `noise_`
  Noise noise_;
};

}  // namespace prism::calibrate
