// SPDX-License-Identifier: Apache-2.0
/// What the ranks that run for real (outside the engine) and the replay tell each other.
///
/// A rank outside computes by itself; the engine knows only its communications. The outside says
/// when the rank arrives at one, the engine says when it has ended at that rank.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/base/ids.hpp"

namespace prism::replay {

/// A rank outside arrived at a communication. Times are those of the replay's Clock.
struct ExternalArrival {
  Rank rank = 0;
  uint32_t node = 0;  ///< of the rank's program: a collective, send, recv or batch
  TimeNs arrival = 0;
};

/// A communication ended at a rank outside: those it waits for have arrived and its own transfer
/// time is over.
struct CommunicationEnd {
  Rank rank = 0;
  uint32_t node = 0;
  TimeNs end = 0;
};

/// Where the engine takes arrivals from. The engine calls it from its own thread only.
class ExternalArrivals {
 public:
  ExternalArrivals() = default;
  ExternalArrivals(const ExternalArrivals&) = delete;
  ExternalArrivals& operator=(const ExternalArrivals&) = delete;
  virtual ~ExternalArrivals() = default;

  /// Whether `poll` has something. Never blocks, costs nanoseconds: it is spun on.
  virtual bool ready() const = 0;
  /// Takes the next arrival; false if there is none. Does not wait for one.
  virtual bool poll(ExternalArrival& arrival) = 0;
  /// Sleeps until `ready()` or the deadline; may return too early or late.
  virtual void sleep_until(std::chrono::steady_clock::time_point deadline) = 0;
};

/// Where the engine publishes to. Called from the engine's thread, in the order of `end` as far as
/// it is known in time; whatever time it takes delays those that follow.
class CommunicationEnds {
 public:
  CommunicationEnds() = default;
  CommunicationEnds(const CommunicationEnds&) = delete;
  CommunicationEnds& operator=(const CommunicationEnds&) = delete;
  virtual ~CommunicationEnds() = default;

  virtual void ended(const CommunicationEnd& communication) = 0;
};

/// Arrivals from other threads: any number of them pushes, the engine takes.
class ArrivalQueue final : public ExternalArrivals {
 public:
  /// From any thread. Wakes the engine if it sleeps.
  void push(const ExternalArrival& arrival);

  bool ready() const override;
  bool poll(ExternalArrival& arrival) override;
  void sleep_until(std::chrono::steady_clock::time_point deadline) override;

 private:
  std::mutex mutex_;
  std::condition_variable pushed_;
  bool asleep_ = false;                 ///< guarded by mutex_
  std::vector<ExternalArrival> queue_;  ///< guarded by mutex_
  std::atomic<bool> any_ = false;       ///< queue_ is not empty
  std::vector<ExternalArrival> taken_;  ///< the engine's; handed out from `next_` on
  size_t next_ = 0;
};

}  // namespace prism::replay
