// SPDX-License-Identifier: Apache-2.0
/// Ranks outside that take precisely the times that the job has recorded for them: what a replay
/// with them says is then what the replay of the whole job says, ns by ns.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "core/graph/job.hpp"
#include "core/graph/times.hpp"
#include "core/replay/clock.hpp"
#include "core/replay/external_arrivals.hpp"

namespace prism::reference {

/// Runs the lanes of one rank from communication to communication.
class ScriptedRank {
 public:
  ScriptedRank(const graph::Job& job, const graph::Times& times, Rank rank);

  using Arrive = std::function<void(const replay::ExternalArrival&)>;
  /// Goes on as far as it can; tells `arrive` of the communications that it comes to.
  void run(const Arrive& arrive);
  /// One of them has ended.
  void ended(uint32_t node, TimeNs end);

 private:
  struct Lane {
    std::vector<uint32_t> nodes;
    uint32_t next = 0;
    bool communicates = false;
    TimeNs end = 0;
  };
  /// False while something that the node depends on has not ended.
  bool arrival_of(const Lane& lane, uint32_t node, TimeNs& arrival) const;

  const graph::Program& program_;
  const graph::TimesOfRank times_;
  const Rank rank_;
  std::vector<Lane> lanes_;
  std::vector<TimeNs> ends_;  ///< by node; -1: not ended
};

/// Hands each arrival over when the clock has come to it. One thread: the engine's.
class ScriptedOutside final : public replay::ExternalArrivals, public replay::CommunicationEnds {
 public:
  ScriptedOutside(const graph::Job& job, const graph::Times& times, const std::vector<Rank>& ranks,
                  const replay::Clock& clock);
  /// On a simulated clock, which is told when there will be an arrival.
  ScriptedOutside(const graph::Job& job, const graph::Times& times, const std::vector<Rank>& ranks,
                  replay::SimulatedClock& clock);

  bool ready() const override;
  bool poll(replay::ExternalArrival& arrival) override;
  void sleep_until(std::chrono::steady_clock::time_point deadline) override;
  void ended(const replay::CommunicationEnd& communication) override;
  /// The earliest arrival that was not polled; the end of time if there is none.
  TimeNs next_arrival() const;
  /// Whether the ends came in the order of time.
  bool in_order() const { return in_order_; }

 private:
  struct Later {
    bool operator()(const replay::ExternalArrival& a, const replay::ExternalArrival& b) const {
      return a.arrival > b.arrival;
    }
  };
  ScriptedOutside(const graph::Job& job, const graph::Times& times, const std::vector<Rank>& ranks,
                  const replay::Clock& clock, replay::SimulatedClock* alarms);
  void run(ScriptedRank& rank);

  const replay::Clock& clock_;
  replay::SimulatedClock* const alarms_;
  std::unordered_map<Rank, ScriptedRank> ranks_;
  std::priority_queue<replay::ExternalArrival, std::vector<replay::ExternalArrival>, Later> next_;
  TimeNs last_end_ = 0;
  bool in_order_ = true;
};

}  // namespace prism::reference
