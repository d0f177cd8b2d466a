// SPDX-License-Identifier: Apache-2.0
#include "tests/synthetic/job.hpp"

#include <cmath>
#include <numeric>

#include "tests/synthetic/program.hpp"

namespace prism::synthetic {
namespace {

/// Log-normal numbers of mean 1, of a stream of their own for each rank.
class Jitter {
 public:
  Jitter(double relative_deviation, uint64_t seed, uint64_t run, Rank rank)
      : sigma_(std::sqrt(std::log1p(relative_deviation * relative_deviation))),
        state_(mix(mix(mix(seed) + run) + rank)) {}

  double next() {
    has_second_ = !has_second_;
    if (!has_second_) {
      return from_normal(second_);
    }
    // Box and Muller: two normal numbers at a time.
    constexpr double kTwoPi = 6.283185307179586;
    const double radius = std::sqrt(-2 * std::log(uniform()));
    const double angle = kTwoPi * uniform();
    second_ = radius * std::sin(angle);
    return from_normal(radius * std::cos(angle));
  }

 private:
  double from_normal(double z) const { return std::exp(sigma_ * z - sigma_ * sigma_ / 2); }
  /// In (0, 1].
  double uniform() {
    constexpr double kSteps = 9007199254740992.0;  // 2^53
    state_ += 0x9e3779b97f4a7c15;
    return static_cast<double>((mix(state_) >> 11U) + 1) / kSteps;
  }
  /// splitmix64
  static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111eb;
    return z ^ (z >> 31U);
  }

  double sigma_;
  uint64_t state_;
  bool has_second_ = false;
  double second_ = 0;
};

graph::RankTimes times_of(const graph::Program& program, double straggler, Jitter* jitter) {
  graph::RankTimes times = graph::columns_of(program, nullptr);
  const auto change = [&](graph::Column& column, size_t index, double factor) {
    const double all = jitter != nullptr ? factor * jitter->next() : factor;
    column.set(index, std::llround(static_cast<double>(column[index]) * all));
  };
  for (uint32_t node = 0; node < program.nodes.size(); ++node) {
    const bool kernel = program.lanes[program.nodes[node].lane].kind == graph::LaneKind::Stream;
    change(times.durations, node, kernel ? straggler : 1);
    change(times.gaps, node, 1);
  }
  for (uint32_t part = 0; part < program.parts.size(); ++part) {
    change(times.parts, part, 1);
  }
  return times;
}

}  // namespace

Result<graph::Job> make_job(const Spec& spec) {
  PRISM_TRY(validate(spec));
  std::vector<std::vector<Rank>> classes(spec.pp);
  std::vector<graph::Program> programs(spec.pp);
  for (uint32_t stage = 0; stage < spec.pp; ++stage) {
    classes[stage].resize(size_t{spec.tp} * spec.dp);
    std::iota(classes[stage].begin(), classes[stage].end(), spec.rank(0, 0, stage));
    programs[stage] = program_of(spec, stage);
  }
  return graph::instantiate(spec.world_size(), classes, std::move(programs));
}

graph::Times make_times(const graph::Job& job, const Spec& spec, uint64_t run) {
  std::vector<double> straggler(job.world_size, 1);
  for (const auto& [rank, factor] : spec.stragglers) {
    straggler[rank] *= factor;
  }
  graph::Times times;
  times.set_of.assign(job.world_size, graph::kNone);
  for (Rank rank = 0; rank < job.world_size; ++rank) {
    if (spec.jitter > 0 || straggler[rank] != 1) {
      times.set_of[rank] = static_cast<uint32_t>(times.sets.size());
      Jitter jitter(spec.jitter, spec.seed, run, rank);
      times.sets.push_back(
          times_of(job.program(rank), straggler[rank], spec.jitter > 0 ? &jitter : nullptr));
    }
  }
  return times;
}

}  // namespace prism::synthetic
