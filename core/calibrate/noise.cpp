// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/noise.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "core/base/random.hpp"

namespace prism::calibrate {

using graph::kNone;
using graph::TimesOfRank;

namespace {

/// So many residuals of a node show its distribution by themselves.
constexpr size_t kEnough = 32;

/// The share of the variance `observed` that chance, which would give `by_chance`, does not
/// explain.
double beyond_chance(double by_chance, double observed) {
  return observed > by_chance ? 1 - by_chance / observed : 0;
}

double square(double value) {
  return value * value;
}

bool is_drawn(const graph::Node& node, bool gap) {
  return gap || node.kind == graph::Kind::Compute;
}

DurationNs time_of(const TimesOfRank& times, uint32_t node, bool gap) {
  return gap ? times.gap(node) : times.duration(node);
}

/// Mean over the samples, rounded.
graph::RankTimes mean_times(const graph::IterationKind& kind, Rank rank) {
  const graph::Program& program = kind.job.program(rank);
  graph::RankTimes mean = graph::columns_of(program, nullptr);
  const auto runs = static_cast<double>(kind.samples.size());
  const auto set = [&](graph::Column& column, auto time) {
    for (uint32_t i = 0; i < column.size(); ++i) {
      double sum = 0;
      for (const graph::Sample& sample : kind.samples) {
        sum += static_cast<double>(time(TimesOfRank(kind.job, sample.times, rank), i));
      }
      column.set(i, std::llround(sum / runs));
    }
  };
  set(mean.durations, [](const TimesOfRank& t, uint32_t node) { return t.duration(node); });
  set(mean.gaps, [](const TimesOfRank& t, uint32_t node) { return t.gap(node); });
  set(mean.parts, [](const TimesOfRank& t, uint32_t part) { return t.part(part); });
  for (uint32_t node = 0; node < program.nodes.size(); ++node) {
    if (graph::has_parts(program.nodes[node].kind)) {
      mean.durations.set(node, 0);
    }
  }
  return mean;
}

}  // namespace

/// Takes the parts out of the measured times of a class, one after another.
class NoiseEstimate {
 public:
  NoiseEstimate(const graph::IterationKind& kind, const std::vector<Rank>& times_from)
      : kind_(kind), job_(kind.job), times_from_(times_from), runs_(kind.samples.size()) {}

  Result<Noise> run() {
    PRISM_TRY(find_measured());
    set_levels();
    find_run_effects();
    noise_.job_ = &job_;
    noise_.runs_ = static_cast<uint32_t>(runs_);
    noise_.classes_.resize(job_.classes.size());
    noise_.shares_.resize(job_.classes.size());
    for (uint32_t c = 0; c < job_.classes.size(); ++c) {
      noise_.shares_[c].measured_ranks = static_cast<uint32_t>(ranks_of_class_[c].size());
      if (!ranks_of_class_[c].empty() && runs_ > 1) {
        estimate_class(c);
      }
    }
    return std::move(noise_);
  }

 private:
  Status find_measured() {
    if (kind_.samples.empty()) {
      return run_error("a graph without measured times shows no noise");
    }
    if (times_from_.size() != job_.world_size) {
      return run_error("whose times each rank has is said of " +
                       std::to_string(times_from_.size()) + " ranks of " +
                       std::to_string(job_.world_size));
    }
    noise_.measured_.resize(job_.world_size);
    ranks_of_class_.resize(job_.classes.size());
    for (Rank rank = 0; rank < job_.world_size; ++rank) {
      const Rank from = times_from_[rank];
      if (from != kNone && (from >= job_.world_size || times_from_[from] != from ||
                            job_.class_of[from] != job_.class_of[rank])) {
        return run_error("rank " + std::to_string(rank) + " has the times of rank " +
                         std::to_string(from) + ", which was not measured or is of another class");
      }
      noise_.measured_[rank] = from == rank;
      if (from == rank) {
        ranks_of_class_[job_.class_of[rank]].push_back(rank);
        ++measured_;
      }
    }
    return measured_ > 0 ? Status() : run_error("of no rank the times were measured");
  }

  void set_levels() {
    graph::Times& levels = noise_.levels_;
    levels.set_of.assign(job_.world_size, kNone);
    levels.sets.reserve(measured_);
    for (Rank rank = 0; rank < job_.world_size; ++rank) {
      if (noise_.measured_[rank]) {
        levels.set_of[rank] = static_cast<uint32_t>(levels.sets.size());
        levels.sets.push_back(mean_times(kind_, rank));
      }
    }
    for (Rank rank = 0; rank < job_.world_size; ++rank) {
      if (times_from_[rank] != kNone) {
        levels.set_of[rank] = levels.set_of[times_from_[rank]];
      }
    }
  }

  /// How much longer each run was for all measured ranks.
  void find_run_effects() {
    std::vector<double> all(runs_, 0);
    double by_chance = 0;
    std::vector<double> own(runs_);
    for (Rank rank = 0; rank < job_.world_size; ++rank) {
      if (!noise_.measured_[rank]) {
        continue;
      }
      double mean = 0;
      for (size_t run = 0; run < runs_; ++run) {
        own[run] = total(rank, run);
        all[run] += own[run];
        mean += own[run] / static_cast<double>(runs_);
      }
      for (const double value : own) {
        by_chance += square(value - mean);
      }
    }
    double mean = 0;
    for (const double value : all) {
      mean += value / static_cast<double>(runs_);
    }
    double observed = 0;
    for (const double value : all) {
      observed += square(value - mean);
    }
    const double common = beyond_chance(by_chance, observed);
    run_effects_.assign(runs_, 1);
    for (size_t run = 0; run < runs_ && mean > 0; ++run) {
      run_effects_[run] += common * (all[run] / mean - 1);
    }
    if (runs_ > 1 && mean > 0) {
      run_variance_ = common * observed / square(mean) / static_cast<double>(runs_ - 1);
    }
  }

  double total(Rank rank, size_t run) const {
    const TimesOfRank times(job_, kind_.samples[run].times, rank);
    const graph::Program& program = job_.program(rank);
    double sum = 0;
    for (uint32_t node = 0; node < program.nodes.size(); ++node) {
      for (const bool gap : {false, true}) {
        if (is_drawn(program.nodes[node], gap)) {
          sum += static_cast<double>(time_of(times, node, gap));
        }
      }
    }
    return sum;
  }

  // ---- One class ----

  void estimate_class(uint32_t c) {
    class_ = c;
    ranks_ = ranks_of_class_[c].size();
    drawn_ = 0;
    find_cells();
    load();
    remove_common();
    remove_paces();
    make_pools();
    fit_stretch();
  }

  Noise::OfClass& out() { return noise_.classes_[class_]; }
  size_t cells() const { return noise_.classes_[class_].cells.size(); }
  /// What is left of the time of a cell, relative to the level.
  double& rest(size_t rank, size_t run, size_t cell) {
    return rest_[(rank * runs_ + run) * cells() + cell];
  }
  double& level(size_t rank, size_t cell) { return level_[rank * cells() + cell]; }

  /// Nodes and gaps that take time.
  void find_cells() {
    const graph::Program& program = job_.classes[class_].program;
    const std::vector<Rank>& ranks = ranks_of_class_[class_];
    for (uint32_t node = 0; node < program.nodes.size(); ++node) {
      for (const bool gap : {false, true}) {
        const bool takes_time = std::any_of(ranks.begin(), ranks.end(), [&](Rank rank) {
          return time_of(TimesOfRank(job_, noise_.levels_, rank), node, gap) > 0;
        });
        if (is_drawn(program.nodes[node], gap) && takes_time) {
          out().cells.push_back({node, gap, {}});
        }
      }
    }
  }

  void load() {
    rest_.assign(ranks_ * runs_ * cells(), 1);
    level_.assign(ranks_ * cells(), 0);
    weight_.assign(cells(), 0);
    for (size_t r = 0; r < ranks_; ++r) {
      for (size_t run = 0; run < runs_; ++run) {
        const TimesOfRank times(job_, kind_.samples[run].times, ranks_of_class_[class_][r]);
        for (size_t i = 0; i < cells(); ++i) {
          const Noise::Cell& cell = out().cells[i];
          rest(r, run, i) =
              static_cast<double>(time_of(times, cell.node, cell.gap)) / run_effects_[run];
          level(r, i) += rest(r, run, i) / static_cast<double>(runs_);
        }
      }
      for (size_t i = 0; i < cells(); ++i) {
        weight_[i] += square(level(r, i)) / static_cast<double>(ranks_);
        for (size_t run = 0; run < runs_; ++run) {
          rest(r, run, i) = level(r, i) > 0 ? rest(r, run, i) / level(r, i) : 1;
        }
      }
    }
  }

  /// Analysis of variance of each cell, ranks by runs: what the ranks of a run have in common, and
  /// what is independent (unbiased, as a share of the cell's level).
  void remove_common() {
    const auto ranks = static_cast<double>(ranks_);
    const auto runs = static_cast<double>(runs_);
    std::vector<std::vector<double>> of_run(runs_, std::vector<double>(cells(), 0));
    independent_.assign(cells(), 0);
    double between_runs = 0;  // mean squares, times weights
    double by_chance = 0;
    NoiseShares& shares = noise_.shares_[class_];
    for (size_t i = 0; i < cells(); ++i) {
      double within = 0;
      double common = 0;
      for (size_t run = 0; run < runs_; ++run) {
        for (size_t r = 0; r < ranks_; ++r) {
          of_run[run][i] += (rest(r, run, i) - 1) / ranks;
          within += square(rest(r, run, i) - 1);
        }
        common += ranks * square(of_run[run][i]);
      }
      const double of_runs = common / (runs - 1);
      independent_[i] = ranks_ > 1 ? (within - common) / ((ranks - 1) * (runs - 1)) : of_runs;
      between_runs += weight_[i] * of_runs;
      by_chance += weight_[i] * independent_[i];
      shares.common +=
          weight_[i] * (run_variance_ + std::max(0.0, of_runs - independent_[i]) / ranks);
      shares.persistent += persistent(i);
    }
    shares.independent = by_chance;
    const double sum = shares.common + shares.persistent + shares.independent;
    for (double* share : {&shares.common, &shares.persistent, &shares.independent}) {
      *share = sum > 0 ? *share / sum : 0;
    }
    const double share = ranks_ > 1 ? beyond_chance(by_chance, between_runs) : 0;
    out().common.resize(runs_);
    for (size_t run = 0; run < runs_; ++run) {
      out().common[run].resize(cells());
      for (size_t i = 0; i < cells(); ++i) {
        const double moment = 1 + share * of_run[run][i];
        out().common[run][i] = static_cast<float>(run_effects_[run] * moment);
        for (size_t r = 0; r < ranks_ && moment > 0; ++r) {
          rest(r, run, i) /= moment;
        }
      }
    }
  }

  /// Variance of a cell between ranks, in ns^2, beyond what means over few runs vary by chance.
  double persistent(size_t i) {
    if (ranks_ < 2) {
      return 0;
    }
    double mean = 0;
    double squares = 0;
    for (size_t r = 0; r < ranks_; ++r) {
      mean += level(r, i) / static_cast<double>(ranks_);
      squares += square(level(r, i));
    }
    const auto ranks = static_cast<double>(ranks_);
    const double between = (squares - ranks * square(mean)) / (ranks - 1);
    return std::max(0.0, between - weight_[i] * independent_[i] / static_cast<double>(runs_));
  }

  /// How much longer a run was for a rank, over all its nodes.
  void remove_paces() {
    std::vector<double> paces(ranks_ * runs_, 0);
    double observed = 0;
    double by_chance = 0;
    for (size_t r = 0; r < ranks_; ++r) {
      double whole = 0;
      for (size_t i = 0; i < cells(); ++i) {
        whole += level(r, i);
      }
      for (size_t run = 0; run < runs_ && whole > 0; ++run) {
        double& pace = paces[r * runs_ + run];
        for (size_t i = 0; i < cells(); ++i) {
          const double longer = level(r, i) / whole * (rest(r, run, i) - 1);
          pace += longer;
          by_chance += square(longer);
        }
        observed += square(pace);
      }
    }
    const double share = beyond_chance(by_chance, observed);
    out().paces.resize(paces.size());
    for (size_t k = 0; k < paces.size(); ++k) {
      const double pace = share * paces[k];
      out().paces[k] = static_cast<float>(pace);
      for (size_t i = 0; i < cells(); ++i) {
        rest_[k * cells() + i] /= 1 + pace;
      }
    }
    center(out().paces, 0);
  }

  // ---- Pools ----

  using Alike = std::tuple<bool, uint32_t, uint32_t, uint32_t, int>;
  using Groups = std::map<Alike, std::vector<size_t>>;

  /// Which cells are alike: closely, or by lane and duration alone.
  Alike alike(size_t i, bool closely) const {
    const graph::Program& program = job_.classes[class_].program;
    const Noise::Cell& cell = noise_.classes_[class_].cells[i];
    graph::Labels labels;
    if (closely && !program.labels.empty()) {
      labels = program.labels[cell.node];
    }
    return {cell.gap, program.nodes[cell.node].lane, labels.name, labels.phase,
            std::ilogb(std::sqrt(weight_[i]))};
  }

  void make_pools() {
    Groups close;
    Groups wide;
    const size_t own = ranks_ * runs_;
    for (size_t i = 0; i < cells(); ++i) {
      if (own >= kEnough) {
        make_pool({i});
      } else {
        close[alike(i, true)].push_back(i);
      }
    }
    for (const auto& [key, members] : close) {
      if (members.size() * own >= kEnough) {
        make_pool(members);
      } else {
        std::vector<size_t>& others = wide[alike(members.front(), false)];
        others.insert(others.end(), members.begin(), members.end());
      }
    }
    for (const auto& [key, members] : wide) {
      make_pool(members);
    }
  }

  void make_pool(const std::vector<size_t>& members) {
    std::vector<float>& residuals = out().residuals;
    const size_t first = residuals.size();
    residuals.reserve(first + members.size() * ranks_ * runs_);
    for (const size_t i : members) {
      for (size_t r = 0; r < ranks_; ++r) {
        for (size_t run = 0; run < runs_; ++run) {
          residuals.push_back(static_cast<float>(rest(r, run, i) - 1));
        }
      }
    }
    center(residuals, first);
    const double variance = mean_square(residuals, first);
    for (const size_t i : members) {
      out().cells[i].pool = {static_cast<uint32_t>(first),
                             static_cast<uint32_t>(residuals.size() - first)};
      drawn_ += weight_[i] * variance;
    }
  }

  static void center(std::vector<float>& values, size_t first) {
    double mean = 0;
    for (size_t k = first; k < values.size(); ++k) {
      mean += values[k] / static_cast<double>(values.size() - first);
    }
    for (size_t k = first; k < values.size(); ++k) {
      values[k] -= static_cast<float>(mean);
    }
  }
  static double mean_square(const std::vector<float>& values, size_t first) {
    double sum = 0;
    for (size_t k = first; k < values.size(); ++k) {
      sum += square(values[k]);
    }
    return sum / static_cast<double>(values.size() - first);
  }

  /// So that what is drawn varies as much as what is independent.
  void fit_stretch() {
    double wanted = 0;
    double weights = 0;
    for (size_t i = 0; i < cells(); ++i) {
      wanted += weight_[i] * independent_[i];
      weights += weight_[i];
    }
    const double drawn = drawn_ + weights * mean_square(out().paces, 0);
    out().stretch = drawn > 0 ? static_cast<float>(std::sqrt(wanted / drawn)) : 0;
  }

  const graph::IterationKind& kind_;
  const graph::Job& job_;
  const std::vector<Rank>& times_from_;
  size_t runs_;
  size_t measured_ = 0;
  std::vector<std::vector<Rank>> ranks_of_class_;  ///< those that were measured
  std::vector<double> run_effects_;                ///< by run; mean 1
  double run_variance_ = 0;                        ///< of what is true of them
  Noise noise_;

  // Of the class that is looked at.
  uint32_t class_ = 0;
  size_t ranks_ = 0;
  std::vector<double> rest_;
  std::vector<double> level_;
  std::vector<double> weight_;       ///< by cell: mean square of the levels, ns^2
  std::vector<double> independent_;  ///< by cell: relative variance
  double drawn_ = 0;                 ///< variance of the pools, ns^2
};

Result<Noise> Noise::estimate(const graph::IterationKind& kind,
                              const std::vector<Rank>& times_from) {
  return NoiseEstimate(kind, times_from).run();
}

graph::Times Noise::draw(uint64_t seed, uint64_t iteration) const {
  const uint64_t key = mix(mix(seed), iteration);
  const uint32_t run = pick(mix(key), runs_);
  graph::Times times;
  times.set_of.resize(job_->world_size);
  times.sets.reserve(job_->world_size);
  for (Rank rank = 0; rank < job_->world_size; ++rank) {
    times.set_of[rank] = rank;
    times.sets.push_back(draw_rank(rank, mix(key, rank), run));
  }
  return times;
}

graph::RankTimes Noise::draw_rank(Rank rank, uint64_t key, uint32_t run) const {
  const graph::RankTimes* level = levels_.of(rank);
  graph::RankTimes times =
      level != nullptr ? *level : graph::columns_of(job_->program(rank), nullptr);
  const OfClass& noise = classes_[job_->class_of[rank]];
  if (noise.cells.empty()) {
    return times;
  }
  // The mean of few runs is off by a share 1 / runs of their variance: that of a measured rank
  // brings it along, one that is shared by many does not.
  const float stretch = measured_[rank]
                            ? noise.stretch * std::sqrt(1 - 1 / static_cast<float>(runs_))
                            : noise.stretch;
  const uint32_t pace_at = pick(mix(key), static_cast<uint32_t>(noise.paces.size()));
  const float pace = 1 + stretch * noise.paces[pace_at];
  const float* common = noise.common[run].data();
  uint64_t place = 0;
  for (const Cell& cell : noise.cells) {
    const float residual =
        noise.residuals[cell.pool.first + pick(mix(key, ++place), cell.pool.count)];
    const float factor = std::max(0.0F, *common++ * pace * (1 + stretch * residual));
    graph::Column& column = cell.gap ? times.gaps : times.durations;
    column.set(cell.node,
               std::llround(static_cast<double>(column[cell.node]) * static_cast<double>(factor)));
  }
  return times;
}

}  // namespace prism::calibrate
