// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/noise.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/random.hpp"
#include "core/calibrate/noise_estimate.hpp"

namespace prism::calibrate {
namespace {

/// Names of the random numbers of an iteration.
enum class Draw : uint64_t { Ranks, Run, Replicas };

uint64_t key_of(uint64_t key, Draw draw) {
  return mix(key, static_cast<uint64_t>(draw));
}

}  // namespace

Result<Noise> Noise::estimate(const graph::IterationKind& kind,
                              const std::vector<Rank>& times_from) {
  return NoiseEstimate(kind, times_from).run();
}

graph::Times Noise::draw(uint64_t seed, uint64_t iteration) const {
  const uint64_t key = mix(mix(seed), iteration);
  const uint32_t run = pick(key_of(key, Draw::Run), runs_);
  graph::Times times;
  times.set_of.resize(job_->world_size);
  times.sets.reserve(job_->world_size);
  for (Rank rank = 0; rank < job_->world_size; ++rank) {
    times.set_of[rank] = rank;
    times.sets.push_back(draw_rank(rank, mix(key_of(key, Draw::Ranks), rank), run,
                                   mix(key_of(key, Draw::Replicas), replica_of_[rank])));
  }
  return times;
}

graph::RankTimes Noise::draw_rank(Rank rank, uint64_t key, uint32_t run,
                                  uint64_t replica_key) const {
  const graph::RankTimes* level = levels_.of(rank);
  graph::RankTimes times =
      level != nullptr ? *level : graph::columns_of(job_->program(rank), nullptr);
  const uint32_t group = group_of_[rank];
  if (group == graph::kNone || groups_[group].cells.empty()) {
    return times;
  }
  const OfGroup& noise = groups_[group];
  // The mean of few runs is off by a share 1 / runs of their variance: that of a measured rank
  // brings it along, one that is shared by many does not.
  const float stretch = measured_[rank]
                            ? noise.stretch * std::sqrt(1 - 1 / static_cast<float>(runs_))
                            : noise.stretch;
  const auto longer = [stretch](const std::vector<float>& from, uint64_t random) {
    return 1 + stretch * from[pick(random, static_cast<uint32_t>(from.size()))];
  };
  const float pace = whole_ ? 1 : longer(noise.paces, mix(key));
  const float* common = noise.common[run].data();
  int32_t micro_batch = -1;
  float load = 1;
  uint64_t place = 0;
  for (const Cell& cell : noise.cells) {
    if (cell.micro_batch != micro_batch && !whole_) {
      micro_batch = cell.micro_batch;
      load = micro_batch < 0 ? 1
                             : longer(loads_, mix(replica_key, static_cast<uint64_t>(micro_batch)));
    }
    // All pools of a group are in one order of ranks and runs where runs are drawn whole.
    const uint64_t random = whole_ ? mix(replica_key) : mix(key, ++place);
    const float residual = noise.residuals[cell.pool.first + pick(random, cell.pool.count)];
    const float factor = std::max(0.0F, *common++ * load * pace * (1 + stretch * residual));
    graph::Column& column = cell.gap ? times.gaps : times.durations;
    column.set(cell.node,
               std::llround(static_cast<double>(column[cell.node]) * static_cast<double>(factor)));
  }
  return times;
}

}  // namespace prism::calibrate
