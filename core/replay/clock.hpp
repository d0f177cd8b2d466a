// SPDX-License-Identifier: Apache-2.0
/// The clock that a replay with ranks outside runs on. Time 0 is the start of the job; before it
/// the time is negative.
#pragma once

#include <chrono>
#include <functional>
#include <queue>
#include <vector>

#include "core/base/ids.hpp"
#include "core/replay/external_arrivals.hpp"

namespace prism::replay {

class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  virtual TimeNs now() const = 0;
  /// Returns when the time is `time` or later, or as soon as `arrivals` is ready.
  virtual void wait_until(TimeNs time, ExternalArrivals& arrivals) = 0;
};

/// Real time: CLOCK_MONOTONIC, less `origin`. `now` may be called from any thread, and other
/// processes of the machine can stamp their arrivals with the same origin; `wait_until` is the
/// engine's.
class SystemClock final : public Clock {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  /// What a sleep may take too long on a machine with idle cores: slack of timers, and waking up.
  static constexpr DurationNs kSpin = 150'000;

  /// `origin` may lie in the future: then the engine has done what it can before the job starts.
  /// Waits sleep, but for their last `spin` ns.
  explicit SystemClock(Instant origin, DurationNs spin = kSpin) : origin_(origin), spin_(spin) {}

  TimeNs now() const override;
  void wait_until(TimeNs time, ExternalArrivals& arrivals) override;

 private:
  const Instant origin_;
  const DurationNs spin_;
};

/// Time that stands still while anything is done and jumps where the engine waits: an outside that
/// is computed gives the same result on any machine. One thread.
class SimulatedClock final : public Clock {
 public:
  TimeNs now() const override { return now_; }
  /// Jumps to `time` or to the next alarm, whichever is earlier.
  void wait_until(TimeNs time, ExternalArrivals& arrivals) override;
  /// The outside will have an arrival at that time.
  void set_alarm(TimeNs time) { alarms_.push(time); }

 private:
  TimeNs now_ = 0;
  std::priority_queue<TimeNs, std::vector<TimeNs>, std::greater<>> alarms_;
};

}  // namespace prism::replay
