// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <thread>

#include "core/replay/clock.hpp"
#include "core/replay/external_arrivals.hpp"

namespace prism::replay {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST(ArrivalQueue, KeepsTheOrderOfEachThread) {
  constexpr uint32_t kThreads = 3;
  constexpr uint32_t kEach = 10'000;
  ArrivalQueue queue;
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < kThreads; ++rank) {
    threads.emplace_back([&queue, rank] {
      for (uint32_t node = 0; node < kEach; ++node) {
        queue.push({rank, node, 0});
      }
    });
  }
  std::vector<uint32_t> next(kThreads, 0);
  for (uint32_t taken = 0; taken < kThreads * kEach;) {
    queue.sleep_until(steady_clock::now() + milliseconds(100));
    ExternalArrival arrival;
    while (queue.poll(arrival)) {
      ASSERT_EQ(arrival.node, next[arrival.rank]++);
      ++taken;
    }
  }
  EXPECT_FALSE(queue.ready());
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST(ArrivalQueue, WakesWhoWaitsOnAClock) {
  ArrivalQueue queue;
  SystemClock clock(steady_clock::now());
  std::thread other([&queue] {
    std::this_thread::sleep_for(milliseconds(20));
    queue.push({1, 2, 3});
  });
  clock.wait_until(60'000'000'000, queue);
  EXPECT_TRUE(queue.ready());
  EXPECT_LT(clock.now(), 50'000'000'000);
  other.join();
}

TEST(SystemClock, WaitsUntilTheTimeHasCome) {
  ArrivalQueue queue;
  SystemClock clock(steady_clock::now() + milliseconds(2));
  EXPECT_LT(clock.now(), 0);
  for (const TimeNs time : {1'000'000, 1'010'000, 500'000}) {
    clock.wait_until(time, queue);
    EXPECT_GE(clock.now(), time);
  }
}

TEST(SimulatedClock, JumpsToAlarms) {
  ArrivalQueue queue;
  SimulatedClock clock;
  clock.set_alarm(70);
  clock.set_alarm(30);
  clock.wait_until(50, queue);
  EXPECT_EQ(clock.now(), 30);
  clock.wait_until(50, queue);
  EXPECT_EQ(clock.now(), 50);
  queue.push({0, 0, 50});
  clock.wait_until(60, queue);
  EXPECT_EQ(clock.now(), 50) << "something has arrived";
}

}  // namespace
}  // namespace prism::replay
