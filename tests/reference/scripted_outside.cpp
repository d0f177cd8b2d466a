// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/scripted_outside.hpp"

#include <algorithm>
#include <limits>
#include <thread>

namespace prism::reference {

using replay::CommunicationEnd;
using replay::ExternalArrival;

ScriptedRank::ScriptedRank(const graph::Job& job, const graph::Times& times, Rank rank)
    : program_(job.program(rank)),
      times_(job, times, rank),
      rank_(rank),
      lanes_(program_.lanes.size()),
      ends_(program_.nodes.size(), -1) {
  for (uint32_t node = 0; node < program_.nodes.size(); ++node) {
    lanes_[program_.nodes[node].lane].nodes.push_back(node);
  }
}

bool ScriptedRank::arrival_of(const Lane& lane, uint32_t id, TimeNs& arrival) const {
  const graph::Node& node = program_.nodes[id];
  arrival = lane.end;
  for (uint32_t d = 0; d < node.dependency_count; ++d) {
    const TimeNs end = ends_[program_.dependencies[node.first_dependency + d]];
    if (end < 0) {
      return false;
    }
    arrival = std::max(arrival, end);
  }
  arrival += times_.gap(id);
  return true;
}

void ScriptedRank::run(const Arrive& arrive) {
  bool moved = true;
  while (moved) {
    moved = false;
    for (Lane& lane : lanes_) {
      TimeNs arrival = 0;
      while (lane.next != lane.nodes.size() && !lane.communicates &&
             arrival_of(lane, lane.nodes[lane.next], arrival)) {
        const uint32_t id = lane.nodes[lane.next];
        const graph::Kind kind = program_.nodes[id].kind;
        moved = true;
        if (graph::is_collective(kind) || graph::has_parts(kind)) {
          lane.communicates = true;
          arrive({rank_, id, arrival});
        } else {
          ended(id, arrival + times_.duration(id));
        }
      }
    }
  }
}

void ScriptedRank::ended(uint32_t node, TimeNs end) {
  Lane& lane = lanes_[program_.nodes[node].lane];
  lane.communicates = false;
  lane.end = end;
  ++lane.next;
  ends_[node] = end;
}

ScriptedOutside::ScriptedOutside(const graph::Job& job, const graph::Times& times,
                                 const std::vector<Rank>& ranks, const replay::Clock& clock)
    : ScriptedOutside(job, times, ranks, clock, nullptr) {}

ScriptedOutside::ScriptedOutside(const graph::Job& job, const graph::Times& times,
                                 const std::vector<Rank>& ranks, replay::SimulatedClock& clock)
    : ScriptedOutside(job, times, ranks, clock, &clock) {}

ScriptedOutside::ScriptedOutside(const graph::Job& job, const graph::Times& times,
                                 const std::vector<Rank>& ranks, const replay::Clock& clock,
                                 replay::SimulatedClock* alarms)
    : clock_(clock), alarms_(alarms) {
  for (const Rank rank : ranks) {
    run(ranks_.try_emplace(rank, job, times, rank).first->second);
  }
}

void ScriptedOutside::run(ScriptedRank& rank) {
  rank.run([this](const ExternalArrival& arrival) {
    next_.push(arrival);
    if (alarms_ != nullptr) {
      alarms_->set_alarm(arrival.arrival);
    }
  });
}

TimeNs ScriptedOutside::next_arrival() const {
  return next_.empty() ? std::numeric_limits<TimeNs>::max() : next_.top().arrival;
}

bool ScriptedOutside::ready() const {
  return !next_.empty() && next_.top().arrival <= clock_.now();
}

bool ScriptedOutside::poll(ExternalArrival& arrival) {
  if (!ready()) {
    return false;
  }
  arrival = next_.top();
  next_.pop();
  return true;
}

void ScriptedOutside::sleep_until(std::chrono::steady_clock::time_point deadline) {
  auto until = deadline;
  if (!next_.empty()) {
    until = std::min(until, std::chrono::steady_clock::now() +
                                std::chrono::nanoseconds(next_.top().arrival - clock_.now()));
  }
  std::this_thread::sleep_until(until);
}

void ScriptedOutside::ended(const CommunicationEnd& communication) {
  in_order_ = in_order_ && communication.end >= last_end_;
  last_end_ = communication.end;
  ScriptedRank& rank = ranks_.at(communication.rank);
  rank.ended(communication.node, communication.end);
  run(rank);
}

}  // namespace prism::reference
