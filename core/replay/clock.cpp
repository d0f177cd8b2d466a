// SPDX-License-Identifier: Apache-2.0
#include "core/replay/clock.hpp"

#include <algorithm>

namespace prism::replay {
namespace {

using std::chrono::nanoseconds;

/// Leaves the core to the other thread that runs on it.
void spin_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

TimeNs SystemClock::now() const {
  return nanoseconds(std::chrono::steady_clock::now() - origin_).count();
}

void SystemClock::wait_until(TimeNs time, ExternalArrivals& arrivals) {
  if (time - spin_ > now()) {
    arrivals.sleep_until(origin_ + nanoseconds(time - spin_));
  }
  while (!arrivals.ready() && now() < time) {
    spin_pause();
  }
}

void SimulatedClock::wait_until(TimeNs time, ExternalArrivals& arrivals) {
  if (arrivals.ready()) {
    return;
  }
  while (!alarms_.empty() && alarms_.top() <= now_) {
    alarms_.pop();
  }
  now_ = std::max(now_, alarms_.empty() ? time : std::min(time, alarms_.top()));
}

}  // namespace prism::replay
