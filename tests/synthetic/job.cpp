// SPDX-License-Identifier: Apache-2.0
#include "tests/synthetic/job.hpp"

#include <cmath>
#include <numeric>

#include "core/base/random.hpp"
#include "tests/synthetic/program.hpp"

namespace prism::synthetic {
namespace {

/// Log-normal numbers of mean 1, of a stream of their own for each rank.
class Jitter {
 public:
  Jitter(double relative_deviation, uint64_t seed, uint64_t run, Rank rank)
      : sigma_(std::sqrt(std::log1p(relative_deviation * relative_deviation))),
        key_(mix(mix(mix(seed), run), rank)) {}

  double next() {
    has_second_ = !has_second_;
    if (!has_second_) {
      return from_normal(second_);
    }
    // Box and Muller: two normal numbers at a time.
    constexpr double kTwoPi = 6.283185307179586;
    const double radius = std::sqrt(-2 * std::log(uniform(mix(key_, count_++))));
    const double angle = kTwoPi * uniform(mix(key_, count_++));
    second_ = radius * std::sin(angle);
    return from_normal(radius * std::cos(angle));
  }

 private:
  double from_normal(double z) const { return std::exp(sigma_ * z - sigma_ * sigma_ / 2); }

  double sigma_;
  uint64_t key_;
  uint64_t count_ = 0;
  bool has_second_ = false;
  double second_ = 0;
};

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

graph::RankTimes make_rank_times(const graph::Job& job, const Spec& spec, Rank rank, uint64_t run) {
  double slower = 1;
  for (const auto& [straggler, factor] : spec.stragglers) {
    slower *= straggler == rank ? factor : 1;
  }
  Jitter jitter(spec.jitter, spec.seed, run, rank);
  const graph::Program& program = job.program(rank);
  graph::RankTimes times = graph::columns_of(program, nullptr);
  const auto change = [&](graph::Column& column, size_t index, double factor) {
    column.set(index, std::llround(static_cast<double>(column[index]) * factor * jitter.next()));
  };
  for (uint32_t node = 0; node < program.nodes.size(); ++node) {
    const graph::LaneKind lane = program.lanes[program.nodes[node].lane].kind;
    if (lane != graph::LaneKind::Comm) {
      change(times.durations, node, lane == graph::LaneKind::Stream ? slower : 1);
      change(times.gaps, node, 1);
    }
  }
  return times;
}

graph::Times make_times(const graph::Job& job, const Spec& spec, uint64_t run) {
  std::vector<bool> own(job.world_size, spec.jitter > 0);
  for (const auto& straggler : spec.stragglers) {
    own[straggler.first] = true;
  }
  graph::Times times;
  times.set_of.assign(job.world_size, graph::kNone);
  times.sets.reserve(job.world_size);
  for (Rank rank = 0; rank < job.world_size; ++rank) {
    if (own[rank]) {
      times.set_of[rank] = static_cast<uint32_t>(times.sets.size());
      times.sets.push_back(make_rank_times(job, spec, rank, run));
    }
  }
  return times;
}

Result<graph::Trace> make_trace(const Spec& spec, uint32_t runs) {
  graph::Trace trace;
  trace.origin = "synthetic";
  graph::IterationKind& kind = trace.kinds.emplace_back();
  PRISM_TRY_ASSIGN(kind.job, make_job(spec));
  kind.samples.resize(runs);
  for (uint32_t run = 0; run < runs; ++run) {
    graph::Sample& sample = kind.samples[run];
    sample.repeat = run;
    sample.times.set_of = kind.job.class_of;
    sample.times.sets.reserve(kind.job.classes.size());
    for (const graph::Class& c : kind.job.classes) {
      sample.times.sets.push_back(make_rank_times(kind.job, spec, c.members.front(), run));
    }
  }
  trace.times_from.reserve(kind.job.world_size);
  for (Rank rank = 0; rank < kind.job.world_size; ++rank) {
    trace.times_from.push_back(kind.job.class_of_rank(rank).members.front());
  }
  return trace;
}

}  // namespace prism::synthetic
