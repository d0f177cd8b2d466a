// SPDX-License-Identifier: Apache-2.0
#include "plugins/torch/agent/clocks.hpp"

#include <atomic>
#include <ctime>

namespace prism::torch_agent {
namespace {

int64_t read(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

struct ThreadCost {
  uint32_t thread;
  int64_t mono_ns = 0;
  int64_t cpu_ns = 0;
};

ThreadCost& this_thread() {
  static std::atomic<uint32_t> threads{0};
  thread_local ThreadCost cost{threads.fetch_add(1)};
  return cost;
}

}  // namespace

Entry::Entry() : mono_ns_(read(CLOCK_MONOTONIC)), cpu_ns_(read(CLOCK_THREAD_CPUTIME_ID)) {}

Entry::~Entry() {
  ThreadCost& cost = this_thread();
  cost.cpu_ns += read(CLOCK_THREAD_CPUTIME_ID) - cpu_ns_;
  cost.mono_ns += read(CLOCK_MONOTONIC) - mono_ns_;
}

wire::Clocks Entry::entered() const {
  const ThreadCost& cost = this_thread();
  return {mono_ns_, cpu_ns_, cost.mono_ns, cost.cpu_ns, cost.thread};
}

wire::Clocks Entry::now() const {
  const ThreadCost& cost = this_thread();
  const int64_t mono_ns = read(CLOCK_MONOTONIC);
  const int64_t cpu_ns = read(CLOCK_THREAD_CPUTIME_ID);
  return {mono_ns, cpu_ns, cost.mono_ns + mono_ns - mono_ns_, cost.cpu_ns + cpu_ns - cpu_ns_,
          cost.thread};
}

}  // namespace prism::torch_agent
