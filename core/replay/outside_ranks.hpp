// SPDX-License-Identifier: Apache-2.0
/// The side of the engine that looks at the clock: the ranks outside, what is to be published when,
/// and which lanes are far enough ahead. Internal to core/replay.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "core/replay/state.hpp"
#include "core/replay/urgency.hpp"
#include "core/replay/wall_clock.hpp"

namespace prism::replay {

/// Virtual clock: no rank is outside, and nothing is waited for.
struct NobodyOutside {
  static constexpr bool kOnClock = false;
  using Work = std::vector<RankLane>;
};

class OutsideRanks {
 public:
  static constexpr bool kOnClock = true;
  using Work = UrgentFirst;

  OutsideRanks(const Outside& outside, const WallClockOptions& options)
      : outside_(outside), options_(options), limit_(options.look_ahead) {}

  /// Before the first node. Error: a rank outside that does not exist.
  Status begin(State& state, UrgentFirst& work);

  bool is_outside(Rank rank) const { return first_lane_[rank] != kNone; }

  /// Whether the lane, done until `end`, is to be left alone for now; `attend` brings it back.
  bool sets_aside(Rank rank, uint32_t lane, TimeNs end) {
    if (end < limit_) {
      return false;
    }
    aside_.push({end, {rank, lane}});
    return true;
  }
  /// The communication at the cursor of a lane of a rank outside has ended: to be published.
  void ended(Rank rank, uint32_t node, TimeNs end);

  /// To be called between pieces of work: publishes what is due, and adds lanes whose time has
  /// come.
  void attend(UrgentFirst& work);
  /// Takes the next arrival if there is one: false, or an error that says what is wrong with it.
  Result<bool> take(ExternalArrival& arrival);

  enum class Event : uint8_t {
    Arrival,  ///< `take` has one
    Work,     ///< `attend` has lanes
    Match,    ///< the time has come to which the caller wanted to wait
    Silence,  ///< the outside is awaited for too long
    Nothing   ///< nothing will happen any more
  };
  /// When nothing can be replayed now: waits for the next event and publishes meanwhile. `match`:
  /// when the next recv from any source gets its message; -1: there is none.
  Event wait(TimeNs match);

  Status silence() const;
  const WallClockReport& report() const { return report_; }

 private:
  /// Where the rank outside is, on a lane.
  enum class At : uint8_t {
    OnItsWay,  ///< to the communication at the cursor
    Arrived,   ///< there, and the engine has not found its end
    Ended,     ///< the end is not published
    Done       ///< there are no more
  };
  struct Aside {
    TimeNs end;
    RankLane place;
    bool operator>(const Aside& o) const { return end > o.end; }
  };
  struct Later {
    bool operator()(const CommunicationEnd& a, const CommunicationEnd& b) const {
      return std::tie(a.end, a.rank, a.node) > std::tie(b.end, b.rank, b.node);
    }
  };

  At& at(Rank rank, uint32_t lane) { return at_[first_lane_[rank] + lane]; }
  At at(Rank rank, uint32_t lane) const { return at_[first_lane_[rank] + lane]; }
  /// The rank goes on to the next communication of the lane; all before it is its own affair.
  void leave(Rank rank, uint32_t lane);
  Status check(const ExternalArrival& arrival, TimeNs now) const;
  const Op& next_op(Rank rank, uint32_t lane) const;
  bool is_awaited(Rank rank, uint32_t lane) const;
  TimeNs next_event(TimeNs match) const;
  void publish_until(TimeNs now);
  /// When the lane that was set aside first is brought back: well before the clock comes there.
  TimeNs next_back() const { return aside_.top().end - options_.look_ahead / 2; }

  const Outside& outside_;
  const WallClockOptions& options_;
  State* state_ = nullptr;
  std::vector<uint32_t> first_lane_;  ///< by rank: into at_; kNone: not outside
  std::vector<At> at_;
  uint64_t on_their_way_ = 0;  ///< lanes
  uint64_t not_done_ = 0;      ///< lanes
  std::priority_queue<CommunicationEnd, std::vector<CommunicationEnd>, Later> ends_;
  std::priority_queue<Aside, std::vector<Aside>, std::greater<>> aside_;
  TimeNs limit_;          ///< lanes that are done until here wait
  TimeNs last_word_ = 0;  ///< when the outside or the engine last said something
  WallClockReport report_;
};

}  // namespace prism::replay
