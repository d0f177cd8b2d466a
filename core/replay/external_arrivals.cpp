// SPDX-License-Identifier: Apache-2.0
#include "core/replay/external_arrivals.hpp"

namespace prism::replay {

void ArrivalQueue::push(const ExternalArrival& arrival) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(arrival);
    any_.store(true, std::memory_order_release);
    wake = asleep_;
  }
  // While the engine spins, which is the rule when it has work, no system call is made.
  if (wake) {
    pushed_.notify_one();
  }
}

bool ArrivalQueue::ready() const {
  return next_ != taken_.size() || any_.load(std::memory_order_acquire);
}

bool ArrivalQueue::poll(ExternalArrival& arrival) {
  if (next_ == taken_.size()) {
    if (!any_.load(std::memory_order_acquire)) {
      return false;
    }
    taken_.clear();
    next_ = 0;
    const std::lock_guard lock(mutex_);
    taken_.swap(queue_);
    any_.store(false, std::memory_order_relaxed);
  }
  arrival = taken_[next_++];
  return true;
}

void ArrivalQueue::sleep_until(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  if (next_ != taken_.size() || !queue_.empty()) {
    return;
  }
  asleep_ = true;
  pushed_.wait_until(lock, deadline, [this] { return !queue_.empty(); });
  asleep_ = false;
}

}  // namespace prism::replay
