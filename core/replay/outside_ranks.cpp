// SPDX-License-Identifier: Apache-2.0
#include "core/replay/outside_ranks.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "core/graph/describe.hpp"

namespace prism::replay {
namespace {

constexpr TimeNs kNever = std::numeric_limits<TimeNs>::max();
constexpr size_t kMostNamed = 8;

bool is_communication(const Op& op) {
  return op.slot != kNone || op.part_count != 0;
}

}  // namespace

Status OutsideRanks::begin(State& state, UrgentFirst& work) {
  state_ = &state;
  first_lane_.resize(state.job.world_size, kNone);
  for (const Rank rank : outside_.ranks) {
    if (rank >= state.job.world_size) {
      return run_error("rank " + std::to_string(rank) + " is to run outside, but the job has " +
                       std::to_string(state.job.world_size) + " ranks");
    }
    if (is_outside(rank)) {
      continue;
    }
    const auto lanes = static_cast<uint32_t>(state.compiled(rank).lanes.size());
    first_lane_[rank] = static_cast<uint32_t>(at_.size());
    at_.resize(at_.size() + lanes);
    not_done_ += lanes;
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      leave(rank, lane);
    }
  }
  work.set_levels(levels_of_urgency(state, outside_.ranks));
  last_word_ = std::max<TimeNs>(outside_.clock.now(), 0);
  return {};
}

void OutsideRanks::leave(Rank rank, uint32_t lane) {
  const CompiledLane& of = state_->compiled(rank).lanes[lane];
  uint32_t& cursor = state_->lane(rank, lane).cursor;
  while (cursor != of.op_count && !is_communication(next_op(rank, lane))) {
    ++cursor;
  }
  if (cursor == of.op_count) {
    at(rank, lane) = At::Done;
    --not_done_;
  } else {
    at(rank, lane) = At::OnItsWay;
    ++on_their_way_;
  }
}

const Op& OutsideRanks::next_op(Rank rank, uint32_t lane) const {
  return state_->compiled(rank).op({lane, state_->lane(rank, lane).cursor});
}

void OutsideRanks::ended(Rank rank, uint32_t node, TimeNs end) {
  at(rank, state_->compiled(rank).place_of_node[node].lane) = At::Ended;
  ends_.push({rank, node, end});
  if (end < outside_.clock.now()) {
    ++report_.known_too_late;
  }
}

void OutsideRanks::publish_until(TimeNs now) {
  while (!ends_.empty() && ends_.top().end <= now) {
    const CommunicationEnd next = ends_.top();
    ends_.pop();
    leave(next.rank, state_->compiled(next.rank).place_of_node[next.node].lane);
    last_word_ = outside_.clock.now();
    report_.lateness.add(last_word_ - next.end);
    outside_.ends.ended(next);
  }
}

void OutsideRanks::attend(UrgentFirst& work) {
  const TimeNs now = outside_.clock.now();
  publish_until(now);
  if (aside_.empty() || (not_done_ != 0 && next_back() > now)) {
    return;
  }
  // When nobody is outside any more, there is nobody to wait for.
  const TimeNs from = not_done_ != 0 ? std::max<TimeNs>(now, 0) : aside_.top().end;
  limit_ = from + options_.look_ahead + 1;
  for (; !aside_.empty() && aside_.top().end < limit_; aside_.pop()) {
    work.push_back(aside_.top().place);
  }
}

Result<bool> OutsideRanks::take(ExternalArrival& arrival) {
  if (!outside_.arrivals.poll(arrival)) {
    return false;
  }
  const TimeNs now = outside_.clock.now();
  PRISM_TRY(check(arrival, now));
  ++report_.arrivals;
  report_.arrival_delay.add(now - arrival.arrival);
  last_word_ = now;
  at(arrival.rank, state_->compiled(arrival.rank).place_of_node[arrival.node].lane) = At::Arrived;
  --on_their_way_;
  return true;
}

Status OutsideRanks::check(const ExternalArrival& arrival, TimeNs now) const {
  const Rank rank = arrival.rank;
  const std::string of_rank = "an arrival from outside, of rank " + std::to_string(rank);
  if (rank >= first_lane_.size() || !is_outside(rank)) {
    return run_error(of_rank + ", which does not run outside");
  }
  const Compiled& compiled = state_->compiled(rank);
  if (arrival.node >= compiled.place_of_node.size()) {
    return run_error(of_rank + ", at node " + std::to_string(arrival.node) + ", of " +
                     std::to_string(compiled.place_of_node.size()));
  }
  const auto says = [&] {
    return "an arrival from outside, at " + graph::describe_node(state_->job, rank, arrival.node);
  };
  if (!is_communication(compiled.op_of_node(arrival.node))) {
    return run_error(says() + ", which is no communication");
  }
  const Place place = compiled.place_of_node[arrival.node];
  const LaneState& lane = state_->lane(rank, place.lane);
  const At is_at = at(rank, place.lane);
  if (is_at == At::Done) {
    return run_error(says() + ", after all communications of that lane have ended");
  }
  if (is_at != At::OnItsWay) {
    // The cursor of a lane that has ended stands behind that node already.
    return run_error(says() + ", while one of that lane has not ended");
  }
  if (lane.cursor != place.index) {
    return run_error(says() + ", but the next of that lane is " +
                     graph::describe_node(state_->job, rank, next_op(rank, place.lane).node));
  }
  if (arrival.arrival > now) {
    return run_error(says() + ", lies " + std::to_string(arrival.arrival - now) +
                     " ns in the future: its clock is not that of the replay");
  }
  if (arrival.arrival < lane.end) {
    return run_error(says() + ", lies " + std::to_string(lane.end - arrival.arrival) +
                     " ns before the end of the communication before it on that lane");
  }
  return {};
}

OutsideRanks::Event OutsideRanks::wait(TimeNs match) {
  while (true) {
    // In this order: what arrived until `now` has been heard when the rest is looked at.
    const TimeNs now = outside_.clock.now();
    if (outside_.arrivals.ready()) {
      return Event::Arrival;
    }
    if (not_done_ == 0) {
      return aside_.empty() ? Event::Nothing : Event::Work;
    }
    if (!ends_.empty() && ends_.top().end <= now) {
      publish_until(now);
      continue;
    }
    if (!aside_.empty() && next_back() <= now) {
      return Event::Work;
    }
    if (match >= 0 && match <= now) {
      return Event::Match;
    }
    const TimeNs next = next_event(match);
    const TimeNs patience =
        ends_.empty() && on_their_way_ != 0 ? last_word_ + options_.answer_timeout : kNever;
    if (patience <= now) {
      return Event::Silence;
    }
    if (next == kNever && patience == kNever) {
      return Event::Nothing;
    }
    outside_.clock.wait_until(std::min(next, patience), outside_.arrivals);
  }
}

TimeNs OutsideRanks::next_event(TimeNs match) const {
  TimeNs next = match >= 0 ? match : kNever;
  if (!ends_.empty()) {
    next = std::min(next, ends_.top().end);
  }
  if (!aside_.empty()) {
    next = std::min(next, next_back());
  }
  return next;
}

bool OutsideRanks::is_awaited(Rank rank, uint32_t lane) const {
  if (at(rank, lane) != At::OnItsWay) {
    return false;
  }
  const Compiled& compiled = state_->compiled(rank);
  const Op& op = next_op(rank, lane);
  for (uint32_t d = 0; d < op.dependency_count; ++d) {
    const Dependency& needed = compiled.dependencies[op.first_dependency + d];
    if (state_->lane(rank, needed.lane).cursor <= needed.index) {
      return false;  // it cannot have come: an earlier communication of its own holds it up
    }
  }
  return true;
}

Status OutsideRanks::silence() const {
  std::string text = "nothing came from outside for " +
                     std::to_string(options_.answer_timeout / 1'000'000) + " ms; awaited:";
  size_t awaited = 0;
  for (Rank rank = 0; rank < state_->job.world_size; ++rank) {
    for (uint32_t lane = 0; is_outside(rank) && lane < state_->compiled(rank).lanes.size();
         ++lane) {
      if (is_awaited(rank, lane) && ++awaited <= kMostNamed) {
        text += "\n  " + graph::describe_node(state_->job, rank, next_op(rank, lane).node);
      }
    }
  }
  if (awaited > kMostNamed) {
    text += "\n  and " + std::to_string(awaited - kMostNamed) + " more";
  }
  return run_error(text, Code::DeadlineExceeded);
}

}  // namespace prism::replay
