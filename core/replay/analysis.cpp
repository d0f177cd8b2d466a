// SPDX-License-Identifier: Apache-2.0
#include "core/replay/analysis.hpp"

#include <algorithm>
#include <tuple>

namespace prism::replay {

using graph::Kind;

Analysis::Analysis(State& state, const ReplayOptions& options, ReplayResult& result,
                   uint32_t iterations, uint32_t last_iteration)
    : state_(state),
      options_(options),
      result_(result),
      iterations_(iterations),
      last_iteration_(last_iteration),
      recorder_(state, options, result, iterations, last_iteration) {
  const graph::Job& job = state.job;
  busy_.resize(state.lanes.size(), 0);
  split_.resize(uint64_t{job.world_size} * iterations);
  if (options.critical_path) {
    uint64_t kept = 0;
    for (RankState& rank : state.ranks) {
      rank.first_kept = kept;
      kept += rank.compiled->kept;
    }
    state.kept_ends.resize(kept, -1);
  }
}

void Analysis::split_arrival(Rank rank, const Op& op, const LaneState& at, TimeNs ready,
                             DurationNs gap, const Dependency* latest) {
  TimeSplit& to = split(rank, op.iteration);
  to.compute += gap;
  if (latest != nullptr) {
    const Op& last = state_.compiled(rank).op(*latest);
    const DurationNs ran = ready - std::max(at.end, ready - state_.duration(rank, last));
    (last.kind == Kind::Compute ? to.compute : to.communication) += ran;
    to.waiting += ready - at.end - ran;
  }
}

void Analysis::ended(Rank rank, const CompiledLane& lane, const Op& op, const LaneState& at,
                     TimeNs end) {
  const DurationNs duration = state_.duration(rank, op);
  if (lane.main) {
    TimeSplit& to = split(rank, op.iteration);
    (op.kind == Kind::Compute ? to.compute : to.communication) += duration;
    to.waiting += end - at.arrival - duration;
  }
  if (op.in_window) {
    busy_[lane_number(at)] += duration;
    waiting_[static_cast<uint8_t>(op.kind)] += end - at.arrival - duration;
    if (options_.critical_path) {
      state_.kept_ends[state_.ranks[rank].first_kept + op.kept] = end;
    }
  }
  recorder_.ended(rank, lane, op, at, end);
}

void Analysis::blame(Rank waiting, Rank late, DurationNs wait) {
  const uint64_t key = State::key(late, state_.job.class_of[waiting]);
  if (last_blamed_ == nullptr || last_blamed_key_ != key) {
    last_blamed_key_ = key;
    last_blamed_ = &blamed_[key];
  }
  last_blamed_->first += wait;
  ++last_blamed_->second;
}

void Analysis::finish() {
  for (const graph::Class& c : state_.job.classes) {
    result_.classes.push_back(times_of(c));
  }
  for (const auto& [key, total] : blamed_) {
    result_.waits.push_back(
        {static_cast<Rank>(key >> 32U), static_cast<uint32_t>(key), total.first, total.second});
  }
  for (size_t kind = 0; kind < waiting_.size(); ++kind) {
    if (waiting_[kind] > 0) {
      result_.waiting_by_kind[static_cast<Kind>(kind)] = waiting_[kind];
    }
  }
  std::sort(result_.waits.begin(), result_.waits.end(), [](const Wait& a, const Wait& b) {
    return std::tie(b.total, a.late, a.waiting_class) < std::tie(a.total, b.late, b.waiting_class);
  });
  if (result_.waits.size() > options_.top_waits) {
    result_.waits.resize(options_.top_waits);
  }
  if (options_.critical_path && iterations_ != 0) {
    result_.critical_path = find_critical_path(state_, options_, result_, last_iteration_);
  }
}

ClassTimes Analysis::times_of(const graph::Class& c) const {
  ClassTimes times;
  const Rank representative = c.members[c.representative];
  for (uint32_t i = 0; i < iterations_; ++i) {
    const auto of = [&](Rank rank) -> const TimeSplit& {
      return split_[uint64_t{rank} * iterations_ + i];
    };
    TimeSplit least = of(representative);
    TimeSplit most = least;
    for (const Rank rank : c.members) {
      for (const auto field :
           {&TimeSplit::compute, &TimeSplit::communication, &TimeSplit::waiting}) {
        least.*field = std::min(least.*field, of(rank).*field);
        most.*field = std::max(most.*field, of(rank).*field);
      }
    }
    times.representative.push_back(of(representative));
    times.least.push_back(least);
    times.most.push_back(most);
  }
  for (uint32_t lane = 0; lane < c.program.lanes.size(); ++lane) {
    const auto of = [&](Rank rank) { return busy_[lane_number(state_.lane(rank, lane))]; };
    LaneUse use{of(representative), of(representative), of(representative)};
    for (const Rank rank : c.members) {
      use.least = std::min(use.least, of(rank));
      use.most = std::max(use.most, of(rank));
    }
    times.lanes.push_back(use);
  }
  return times;
}

}  // namespace prism::replay
