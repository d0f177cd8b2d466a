// SPDX-License-Identifier: Apache-2.0
/// wall_clock_bench [RANKS [ITERATIONS [OUTSIDE]]]: replays a 3D-parallel job of at least 1M events
/// a second in real time, with a part of its first tensor group outside, and prints how late the
/// ends of its communications were published. The ranks outside take what the job has recorded for
/// them. Three times: on a clock that counts the engine's own CPU time, as if it had a core to
/// itself; on the real one; and with the ranks outside in another thread, which sleeps between
/// arrivals. Exit code 1 if a time differs from that of the virtual clock.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <numeric>
#include <queue>
#include <thread>
#include <vector>

#include "core/replay/wall_clock.hpp"
#include "tests/reference/scripted_outside.hpp"
#include "tests/synthetic/job.hpp"

namespace {

using namespace prism;
using reference::ScriptedOutside;
using replay::CommunicationEnd;
using replay::ExternalArrival;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr auto kBeforeStart = std::chrono::milliseconds(200);

struct Bench {
  graph::Job job;
  graph::Times times;
  std::vector<Rank> outside;
  std::vector<Rank> recorded;  ///< some that are not outside
  replay::ReplayResult expected;
};

/// tp 8, pp 8, the rest is data parallel.
Bench make_bench(uint32_t ranks, uint32_t iterations, uint32_t outside) {
  synthetic::Spec spec;
  spec.tp = 8;
  spec.pp = 8;
  spec.dp = ranks / (spec.tp * spec.pp);
  spec.micro_batches = 32;
  spec.layers_per_stage = 2;
  spec.iterations = iterations;
  spec.jitter = 0.05;
  auto job = synthetic::make_job(spec);
  if (!job.ok()) {
    std::fprintf(stderr, "%s\n", job.status().to_string().c_str());
    std::exit(2);
  }
  Bench bench{std::move(job).value(), {}, std::vector<Rank>(outside), {}, {}};
  bench.times = synthetic::make_times(bench.job, spec);
  std::iota(bench.outside.begin(), bench.outside.end(), 0);
  bench.recorded = {spec.tp, bench.job.world_size - 1};
  replay::ReplayOptions options;
  options.record = bench.recorded;
  auto expected = replay::replay(bench.job, bench.times, options);
  if (!expected.ok()) {
    std::abort();
  }
  bench.expected = std::move(expected).value();
  return bench;
}

/// The scripted ranks in a thread of their own.
class OtherThread final : public replay::CommunicationEnds {
 public:
  OtherThread(const Bench& bench, const replay::Clock& clock)
      : clock_(clock),
        script_(bench.job, bench.times, bench.outside, clock),
        thread_([this] { run(); }) {}
  ~OtherThread() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    told_.notify_one();
    thread_.join();
  }

  replay::ArrivalQueue& arrivals() { return arrivals_; }
  void ended(const CommunicationEnd& communication) override {
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      first = ends_.empty();
      ends_.push_back(communication);
    }
    if (first) {
      told_.notify_one();
    }
  }

 private:
  void run() {
    std::vector<CommunicationEnd> ends;
    while (true) {
      for (const CommunicationEnd& end : ends) {
        script_.ended(end);
      }
      ends.clear();
      ExternalArrival arrival;
      while (script_.poll(arrival)) {
        arrivals_.push(arrival);
      }
      // An arrival that never comes is waited for a second at a time.
      const DurationNs until_next =
          std::min<DurationNs>(script_.next_arrival() - clock_.now(), 1'000'000'000);
      std::unique_lock lock(mutex_);
      told_.wait_for(lock, nanoseconds(until_next), [this] { return stop_ || !ends_.empty(); });
      if (stop_) {
        return;
      }
      ends.swap(ends_);
    }
  }

  const replay::Clock& clock_;
  ScriptedOutside script_;
  replay::ArrivalQueue arrivals_;
  std::mutex mutex_;
  std::condition_variable told_;
  std::vector<CommunicationEnd> ends_;  ///< guarded by mutex_
  bool stop_ = false;                   ///< guarded by mutex_
  std::thread thread_;
};

/// Stands still while the engine's thread has no core: what the replay would see with a core to
/// itself, measured on a machine that has other things to do. It always spins.
class OwnCoreClock final : public replay::Clock {
 public:
  TimeNs now() const override {
    const steady_clock::time_point at = steady_clock::now();
    // The CPU time is expensive to ask for: only where the thread may have lost its core.
    if (at - last_ > kSuspicious) {
      lost_ = at - start_ - nanoseconds(cpu_time() - cpu_start_);
    }
    last_ = at;
    latest_ = std::max(latest_, (at - start_ - lost_ - nanoseconds(kBeforeStart)).count());
    return latest_;
  }
  void wait_until(TimeNs time, replay::ExternalArrivals& arrivals) override {
    while (!arrivals.ready() && now() < time) {
    }
  }

 private:
  static constexpr nanoseconds kSuspicious{5'000};

  static TimeNs cpu_time() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  }
  const steady_clock::time_point start_ = steady_clock::now();
  const TimeNs cpu_start_ = cpu_time();
  mutable steady_clock::time_point last_ = start_;
  mutable nanoseconds lost_{0};
  mutable TimeNs latest_ = -nanoseconds(kBeforeStart).count();
};

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void print(const char* what, const replay::Lateness& late) {
  const auto us = [](DurationNs ns) { return static_cast<double>(ns) / 1000; };
  std::printf("  %-16s %8llu: p50 %.1f us, p99 %.1f us, p99.9 %.1f us, max %.1f us\n", what,
              static_cast<unsigned long long>(late.count()), us(late.quantile(0.5)),
              us(late.quantile(0.99)), us(late.quantile(0.999)), us(late.max()));
}

bool same(const replay::ReplayResult& a, const replay::ReplayResult& b) {
  for (size_t r = 0; r < a.recorded.size(); ++r) {
    for (size_t node = 0; node < a.recorded[r].nodes.size(); ++node) {
      if (a.recorded[r].nodes[node].end != b.recorded[r].nodes[node].end) {
        return false;
      }
    }
  }
  return true;
}

bool measure(const char* name, const Bench& bench, const replay::Clock& clock,
             const replay::Outside& outside) {
  replay::WallClockOptions options;
  options.record = bench.recorded;
  const double before = thread_seconds();
  const auto result = replay::replay_on_clock(bench.job, bench.times, outside, options);
  const double busy = thread_seconds() - before;
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", result.status().to_string().c_str());
    return false;
  }
  const double seconds = 1e-9 * static_cast<double>(clock.now());
  const bool equal = same(bench.expected, result->replay);
  std::printf("%s: %.2f M events/s for %.1f s, engine's thread %.0f %% busy, times %s\n", name,
              1e-6 * static_cast<double>(result->replay.nodes) / seconds, seconds,
              100 * busy / (seconds + std::chrono::duration<double>(kBeforeStart).count()),
              equal ? "as on the virtual clock" : "DIFFER");
  print("published ends", result->report.lateness);
  std::printf("  known too late   %8llu\n",
              static_cast<unsigned long long>(result->report.known_too_late));
  print("arrivals taken", result->report.arrival_delay);
  return equal;
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int index, uint32_t otherwise) {
    return index < argc ? static_cast<uint32_t>(std::strtoul(argv[index], nullptr, 10)) : otherwise;
  };
  const Bench bench = make_bench(argument(1, 1024), argument(2, 10), argument(3, 8));
  bool equal = true;
  {
    OwnCoreClock clock;
    ScriptedOutside script(bench.job, bench.times, bench.outside, clock);
    equal &= measure("own core", bench, clock, {bench.outside, script, script, clock});
  }
  {
    replay::SystemClock clock(steady_clock::now() + kBeforeStart);
    ScriptedOutside script(bench.job, bench.times, bench.outside, clock);
    equal &= measure("same thread", bench, clock, {bench.outside, script, script, clock});
  }
  {
    replay::SystemClock clock(steady_clock::now() + kBeforeStart);
    OtherThread other(bench, clock);
    equal &= measure("other thread", bench, clock, {bench.outside, other.arrivals(), other, clock});
  }
  return equal ? 0 : 1;
}
