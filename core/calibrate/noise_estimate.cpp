// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/noise_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/graph/replicas.hpp"

namespace prism::calibrate {

using graph::kNone;
using graph::TimesOfRank;

namespace {

/// So many residuals of a node show its distribution by themselves.
constexpr size_t kEnough = 32;

double square(double value) {
  return value * value;
}

/// An effect that sums of times are looked at for. Were their parts independent, the variance of a
/// sum would be the sum of theirs; what it has beyond that is covariance: the effect's square times
/// (sum^2 - sum of parts^2).
struct Effect {
  double observed = 0;   ///< squares of what sums were off their means
  double by_chance = 0;  ///< squares of what their parts were off
  double sums = 0;       ///< squares of the means of the sums
  double parts = 0;      ///< and of their parts

  /// How much of what the sums were off is the effect, 0 to 1; 0 where there is but one part.
  double share() const {
    const bool one_part = sums - parts <= 1e-9 * sums;
    if (one_part || observed <= by_chance) {
      return 0;
    }
    return std::min(1.0, (1 - by_chance / observed) / (1 - parts / sums));
  }
};

bool is_drawn(const graph::Node& node, bool gap) {
  return gap || node.kind == graph::Kind::Compute;
}

DurationNs time_of(const TimesOfRank& times, uint32_t node, bool gap) {
  return gap ? times.gap(node) : times.duration(node);
}

/// Mean over the samples that have times of the rank, rounded.
graph::RankTimes mean_times(const graph::IterationKind& kind, Rank rank) {
  const graph::Program& program = kind.job.program(rank);
  graph::RankTimes mean = graph::columns_of(program, nullptr);
  std::vector<TimesOfRank> samples;
  samples.reserve(kind.samples.size());
  for (const graph::Sample& sample : kind.samples) {
    if (sample.times.of(rank) != nullptr) {
      samples.emplace_back(kind.job, sample.times, rank);
    }
  }
  if (samples.empty()) {
    return mean;
  }
  const auto set = [&](graph::Column& column, auto time) {
    for (uint32_t i = 0; i < column.size(); ++i) {
      double sum = 0;
      for (const TimesOfRank& sample : samples) {
        sum += static_cast<double>(time(sample, i));
      }
      column.set(i, std::llround(sum / static_cast<double>(samples.size())));
    }
  };
  set(mean.durations, [&](const TimesOfRank& t, uint32_t node) {
    return graph::has_parts(program.nodes[node].kind) ? 0 : t.duration(node);
  });
  set(mean.gaps, [](const TimesOfRank& t, uint32_t node) { return t.gap(node); });
  set(mean.parts, [](const TimesOfRank& t, uint32_t part) { return t.part(part); });
  return mean;
}

void center(std::vector<float>& values, size_t first) {
  double mean = 0;
  for (size_t k = first; k < values.size(); ++k) {
    mean += values[k] / static_cast<double>(values.size() - first);
  }
  for (size_t k = first; k < values.size(); ++k) {
    values[k] -= static_cast<float>(mean);
  }
}

double mean_square(const std::vector<float>& values, size_t first) {
  double sum = 0;
  for (size_t k = first; k < values.size(); ++k) {
    sum += square(values[k]);
  }
  return values.size() > first ? sum / static_cast<double>(values.size() - first) : 0;
}

}  // namespace

// ---- One group ----

GroupNoiseEstimate::GroupNoiseEstimate(const graph::IterationKind& kind, size_t members,
                                       std::vector<Rank> ranks, const graph::Times& levels)
    : kind_(kind),
      program_(kind.job.program(ranks.front())),
      members_(members),
      ranks_(std::move(ranks)),
      runs_(kind.samples.size()) {
  find_cells(levels);
}

bool GroupNoiseEstimate::shows_the_slowest() const {
  return ranks_.size() * runs_ >= std::max(kEnough, members_);
}

/// Nodes and gaps that take time.
void GroupNoiseEstimate::find_cells(const graph::Times& levels) {
  for (uint32_t node = 0; node < program_.nodes.size(); ++node) {
    for (const bool gap : {false, true}) {
      const bool takes_time = std::any_of(ranks_.begin(), ranks_.end(), [&](Rank rank) {
        return time_of(TimesOfRank(kind_.job, levels, rank), node, gap) > 0;
      });
      if (is_drawn(program_.nodes[node], gap) && takes_time) {
        const int32_t micro_batch =
            program_.labels.empty() ? -1 : program_.labels[node].micro_batch;
        out_.cells.push_back({node, gap, micro_batch, {}});
      }
    }
  }
}

void GroupNoiseEstimate::load(const std::vector<double>& run_effects, double run_variance) {
  run_effects_ = run_effects;
  run_variance_ = run_variance;
  rest_.assign(ranks_.size() * runs_ * cells(), 1);
  level_.assign(ranks_.size() * cells(), 0);
  weight_.assign(cells(), 0);
  std::vector<double> own(runs_);
  for (size_t r = 0; r < ranks_.size(); ++r) {
    for (size_t i = 0; i < cells(); ++i) {
      double& mean = level(r, i);
      for (size_t run = 0; run < runs_; ++run) {
        const TimesOfRank times(kind_.job, kind_.samples[run].times, ranks_[r]);
        const DurationNs time = time_of(times, out_.cells[i].node, out_.cells[i].gap);
        own[run] = static_cast<double>(time) / run_effects[run];
        mean += own[run] / static_cast<double>(runs_);
      }
      weight_[i] += square(mean) / static_cast<double>(ranks_.size());
      for (size_t run = 0; run < runs_ && mean > 0; ++run) {
        rest(r, run, i) = static_cast<float>(own[run] / mean);
      }
    }
  }
}

/// Analysis of variance of each cell, ranks by runs: what the ranks of a run have in common, and
/// what is independent (unbiased, as a share of the cell's level).
void GroupNoiseEstimate::remove_common(NoiseShares& shares) {
  const auto ranks = static_cast<double>(ranks_.size());
  const auto runs = static_cast<double>(runs_);
  std::vector<std::vector<double>> of_run(runs_, std::vector<double>(cells(), 0));
  independent_.assign(cells(), 0);
  double between_runs = 0;  // mean squares, times weights
  double by_chance = 0;
  for (size_t i = 0; i < cells(); ++i) {
    double within = 0;
    double common = 0;
    for (size_t run = 0; run < runs_; ++run) {
      for (size_t r = 0; r < ranks_.size(); ++r) {
        of_run[run][i] += (rest(r, run, i) - 1.0) / ranks;
        within += square(rest(r, run, i) - 1.0);
      }
      common += ranks * square(of_run[run][i]);
    }
    const double of_runs = common / (runs - 1);
    independent_[i] = ranks_.size() > 1 ? (within - common) / ((ranks - 1) * (runs - 1)) : of_runs;
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
  const double share =
      ranks_.size() > 1 && between_runs > by_chance ? 1 - by_chance / between_runs : 0;
  out_.common.resize(runs_);
  for (size_t run = 0; run < runs_; ++run) {
    out_.common[run].resize(cells());
    for (size_t i = 0; i < cells(); ++i) {
      const double moment = 1 + share * of_run[run][i];
      out_.common[run][i] = static_cast<float>(run_effects_[run] * moment);
      for (size_t r = 0; r < ranks_.size() && moment > 0; ++r) {
        rest(r, run, i) /= static_cast<float>(moment);
      }
    }
  }
}

/// Variance of a cell between ranks, in ns^2, beyond what means over few runs vary by chance.
double GroupNoiseEstimate::persistent(size_t cell) const {
  if (ranks_.size() < 2) {
    return 0;
  }
  const auto ranks = static_cast<double>(ranks_.size());
  double mean = 0;
  for (size_t r = 0; r < ranks_.size(); ++r) {
    mean += level(r, cell) / ranks;
  }
  double between = 0;
  for (size_t r = 0; r < ranks_.size(); ++r) {
    between += square(level(r, cell) - mean) / (ranks - 1);
  }
  return std::max(0.0, between - weight_[cell] * independent_[cell] / static_cast<double>(runs_));
}

void GroupNoiseEstimate::add_loads(size_t rank, size_t run, std::map<int32_t, Sums>& sums) const {
  for (size_t i = 0; i < cells(); ++i) {
    if (out_.cells[i].micro_batch >= 0) {
      Sums& of = sums[out_.cells[i].micro_batch];
      const double longer = level(rank, i) * (rest(rank, run, i) - 1.0);
      of.level += level(rank, i);
      of.parts += square(level(rank, i));
      of.longer += longer;
      of.by_chance += square(longer);
    }
  }
}

void GroupNoiseEstimate::remove_loads(size_t rank, size_t run,
                                      const std::map<int32_t, double>& loads) {
  for (size_t i = 0; i < cells(); ++i) {
    if (out_.cells[i].micro_batch >= 0) {
      rest(rank, run, i) /= static_cast<float>(1 + loads.at(out_.cells[i].micro_batch));
    }
  }
}

/// How much longer a run was for a rank, over all its nodes.
void GroupNoiseEstimate::remove_paces() {
  std::vector<double> paces(ranks_.size() * runs_, 0);
  Effect effect;
  for (size_t r = 0; r < ranks_.size(); ++r) {
    double whole = 0;
    double parts = 0;
    for (size_t i = 0; i < cells(); ++i) {
      whole += level(r, i);
      parts += square(level(r, i));
    }
    for (size_t run = 0; run < runs_ && whole > 0; ++run) {
      double& pace = paces[r * runs_ + run];
      for (size_t i = 0; i < cells(); ++i) {
        const double longer = level(r, i) * (rest(r, run, i) - 1.0);
        pace += longer;
        effect.by_chance += square(longer);
      }
      effect.observed += square(pace);
      effect.sums += square(whole);
      effect.parts += parts;
      pace /= whole;
    }
  }
  const double share = effect.share();
  out_.paces.resize(paces.size());
  for (size_t k = 0; k < paces.size(); ++k) {
    out_.paces[k] = static_cast<float>(share * paces[k]);
    for (size_t i = 0; i < cells(); ++i) {
      rest_[k * cells() + i] /= 1 + out_.paces[k];
    }
  }
  center(out_.paces, 0);
}

/// Which cells are alike: closely, or by lane and duration alone.
GroupNoiseEstimate::Alike GroupNoiseEstimate::alike(size_t cell, bool closely) const {
  const Noise::Cell& of = out_.cells[cell];
  graph::Labels labels;
  if (closely && !program_.labels.empty()) {
    labels = program_.labels[of.node];
  }
  return {of.gap, program_.nodes[of.node].lane, labels.name, labels.phase,
          std::ilogb(std::sqrt(weight_[cell]))};
}

void GroupNoiseEstimate::make_pools(double load_variance) {
  std::map<Alike, std::vector<size_t>> close;
  std::map<Alike, std::vector<size_t>> wide;
  const size_t own = ranks_.size() * runs_;
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
  // What is drawn is to vary as much as what is independent.
  double wanted = 0;
  double drawn = drawn_;
  for (size_t i = 0; i < cells(); ++i) {
    wanted += weight_[i] * independent_[i];
    drawn += weight_[i] * mean_square(out_.paces, 0);
    drawn += out_.cells[i].micro_batch >= 0 ? weight_[i] * load_variance : 0;
  }
  out_.stretch = drawn > 0 ? static_cast<float>(std::sqrt(wanted / drawn)) : 0;
}

void GroupNoiseEstimate::make_pool(const std::vector<size_t>& members) {
  std::vector<float>& residuals = out_.residuals;
  const size_t first = residuals.size();
  residuals.reserve(first + members.size() * ranks_.size() * runs_);
  for (const size_t i : members) {
    for (size_t r = 0; r < ranks_.size(); ++r) {
      for (size_t run = 0; run < runs_; ++run) {
        residuals.push_back(rest(r, run, i) - 1);
      }
    }
  }
  center(residuals, first);
  const double variance = mean_square(residuals, first);
  for (const size_t i : members) {
    out_.cells[i].pool = {static_cast<uint32_t>(first),
                          static_cast<uint32_t>(residuals.size() - first)};
    drawn_ += weight_[i] * variance;
  }
}

// ---- The whole job ----

Result<Noise> NoiseEstimate::run() {
  find_groups();
  PRISM_TRY(find_measured());
  set_levels();
  find_run_effects();
  noise_.job_ = &job_;
  noise_.runs_ = static_cast<uint32_t>(runs_);
  noise_.groups_.resize(ranks_of_group_.size());
  for (uint32_t g = 0; g < ranks_of_group_.size() && runs_ > 1; ++g) {
    if (!ranks_of_group_[g].empty()) {
      group_numbers_.push_back(g);
      groups_.emplace_back(kind_, noise_.shares_[g].ranks.size(), ranks_of_group_[g],
                           noise_.levels_);
      groups_.back().load(run_effects_, run_variance_);
      groups_.back().remove_common(noise_.shares_[g]);
    }
  }
  noise_.whole_ = std::all_of(groups_.begin(), groups_.end(),
                              [](const GroupNoiseEstimate& g) { return g.shows_the_slowest(); });
  if (!noise_.whole_) {
    remove_loads();
  }
  for (size_t k = 0; k < groups_.size(); ++k) {
    if (!noise_.whole_) {
      groups_[k].remove_paces();
    }
    groups_[k].make_pools(load_variance_);
    noise_.groups_[group_numbers_[k]] = std::move(groups_[k]).take();
  }
  return std::move(noise_);
}

void NoiseEstimate::find_groups() {
  graph::Replicas replicas = graph::replicas_of(job_);
  group_of_ = std::move(replicas.group_of);
  noise_.replica_of_ = std::move(replicas.place_of);
  ranks_of_group_.resize(replicas.groups.size());
  noise_.shares_.resize(replicas.groups.size());
}

Status NoiseEstimate::find_measured() {
  if (kind_.samples.empty()) {
    return run_error("a graph without measured times shows no noise");
  }
  if (times_from_.size() != job_.world_size) {
    return run_error("whose times each rank has is said of " + std::to_string(times_from_.size()) +
                     " ranks of " + std::to_string(job_.world_size));
  }
  noise_.measured_.resize(job_.world_size);
  noise_.group_of_.assign(job_.world_size, kNone);
  bool any = false;
  for (Rank rank = 0; rank < job_.world_size; ++rank) {
    const Rank from = times_from_[rank];
    if (from == kNone) {
      continue;
    }
    if (from >= job_.world_size || times_from_[from] != from ||
        group_of_[from] != group_of_[rank]) {
      return run_error("rank " + std::to_string(rank) + " has the times of rank " +
                       std::to_string(from) + ", which was not measured or has another structure");
    }
    const uint32_t group = group_of_[from];
    noise_.group_of_[rank] = group;
    noise_.shares_[group].ranks.push_back(rank);
    if (from == rank) {
      noise_.measured_[rank] = true;
      any = true;
      if (std::all_of(kind_.samples.begin(), kind_.samples.end(), [&](const graph::Sample& sample) {
            return sample.times.of(rank) != nullptr;
          })) {
        ranks_of_group_[group].push_back(rank);
        ++noise_.shares_[group].measured_ranks;
      }
    }
  }
  return any ? Status() : run_error("of no rank the times were measured");
}

void NoiseEstimate::set_levels() {
  graph::Times& levels = noise_.levels_;
  levels.set_of.assign(job_.world_size, kNone);
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
void NoiseEstimate::find_run_effects() {
  const auto runs = static_cast<double>(runs_);
  std::vector<double> all(runs_, 0);
  std::vector<double> own(runs_);
  double mean_of_all = 0;
  Effect effect;
  for (const std::vector<Rank>& ranks : ranks_of_group_) {
    for (const Rank rank : ranks) {
      double mean = 0;
      for (size_t run = 0; run < runs_; ++run) {
        own[run] = total(rank, run);
        all[run] += own[run];
        mean += own[run] / runs;
      }
      for (const double value : own) {
        effect.by_chance += square(value - mean);
      }
      effect.parts += square(mean);
      mean_of_all += mean;
    }
  }
  for (const double value : all) {
    effect.observed += square(value - mean_of_all);
  }
  effect.sums = square(mean_of_all);
  run_effects_.assign(runs_, 1);
  const double share = effect.share();
  if (share > 0 && runs_ > 1) {
    for (size_t run = 0; run < runs_; ++run) {
      run_effects_[run] += share * (all[run] / mean_of_all - 1);
    }
    run_variance_ = share * effect.observed / effect.sums / (runs - 1);
  }
}

/// Of all that is drawn.
double NoiseEstimate::total(Rank rank, size_t run) const {
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

/// How much longer a micro-batch was for a replica in a run, over all its stages.
void NoiseEstimate::remove_loads() {
  struct Place {
    size_t group;
    size_t rank;
  };
  std::map<uint32_t, std::vector<Place>> replicas;
  for (size_t k = 0; k < groups_.size(); ++k) {
    for (size_t r = 0; r < groups_[k].ranks().size(); ++r) {
      replicas[noise_.replica_of_[groups_[k].ranks()[r]]].push_back({k, r});
    }
  }
  struct OfRun {
    const std::vector<Place>* places;
    size_t run;
    std::map<int32_t, double> loads;
  };
  std::vector<OfRun> all;
  all.reserve(replicas.size() * runs_);
  Effect effect;
  for (const auto& [replica, places] : replicas) {
    for (size_t run = 0; run < runs_; ++run) {
      std::map<int32_t, GroupNoiseEstimate::Sums> sums;
      for (const Place& place : places) {
        groups_[place.group].add_loads(place.rank, run, sums);
      }
      OfRun& of_run = all.emplace_back(OfRun{&places, run, {}});
      for (const auto& [micro_batch, sum] : sums) {
        of_run.loads[micro_batch] = sum.level > 0 ? sum.longer / sum.level : 0;
        effect.observed += square(sum.longer);
        effect.by_chance += sum.by_chance;
        effect.sums += square(sum.level);
        effect.parts += sum.parts;
      }
    }
  }
  const double share = effect.share();
  for (OfRun& of_run : all) {
    for (auto& [micro_batch, load] : of_run.loads) {
      load *= share;
      noise_.loads_.push_back(static_cast<float>(load));
    }
    for (const Place& place : *of_run.places) {
      groups_[place.group].remove_loads(place.rank, of_run.run, of_run.loads);
    }
  }
  center(noise_.loads_, 0);
  load_variance_ = mean_square(noise_.loads_, 0);
}

}  // namespace prism::calibrate
