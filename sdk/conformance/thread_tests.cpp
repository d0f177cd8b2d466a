// SPDX-License-Identifier: Apache-2.0
// S8: sessions on several threads.
#include <atomic>
#include <barrier>
#include <optional>
#include <thread>

#include "sdk/conformance/library.hpp"
#include "sdk/conformance/suite.hpp"

namespace prism::conformance {
namespace {

/// Runs `body` on another thread and passes on how it stopped.
class Worker {
 public:
  template <typename Body>
  explicit Worker(Body body)
      : thread_([this, body = std::move(body)] {
          try {
            body();
          } catch (const Stop& stop) {
            stopped_ = stop;
          }
        }) {}
  void join() {
    thread_.join();
    if (stopped_) {
      throw Stop(*stopped_);
    }
  }

 private:
  std::optional<Stop> stopped_;
  std::thread thread_;  // last: it uses the rest
};

void concurrent(Context& context, const Kind& kind) {
  constexpr size_t kThreads = 4;
  constexpr size_t kRounds = 10;
  Bench bench(context, kind);
  const std::vector<std::string> expected = bench.open().serve_all();
  std::vector<Session> sessions;
  for (size_t i = 0; i < kThreads * kRounds; ++i) {
    sessions.push_back(bench.open());
  }
  std::barrier start(kThreads);
  std::atomic<bool> differs{false};
  std::vector<std::unique_ptr<Worker>> workers;
  for (size_t i = 0; i < kThreads; ++i) {
    workers.push_back(std::make_unique<Worker>([&, i] {
      start.arrive_and_wait();
      for (size_t round = 0; round < kRounds && !differs; ++round) {
        if (sessions[i * kRounds + round].serve_all() != expected) {
          differs = true;
        }
      }
    }));
  }
  for (const std::unique_ptr<Worker>& worker : workers) {
    worker->join();
  }
  require(!differs, "sessions that work at the same time on " + std::to_string(kThreads) +
                        " threads give other results than one alone; is there state that they "
                        "share?");
}

void other_thread(Context& context, const Kind& kind) {
  Bench bench(context, kind);
  const Session session = bench.open();
  const std::vector<std::string> expected = bench.open().serve_all();
  std::vector<std::string> got;
  Worker(([&] { got = session.serve_all(); })).join();
  require(got == expected,
          "a session gives other results on another thread than the one that "
          "opened it");
  Worker(([&] { session.close(); })).join();
}

}  // namespace

void add_thread_tests(Suite& suite, const std::vector<const Kind*>& kinds) {
  for (const Kind* kind : kinds) {
    const std::string open = kind_test(3, *kind, "open_close");
    const std::string same = kind_test(9, *kind, "repeat");
    suite.push_back({kind_test(8, *kind, "other_thread"),
                     "A session may be used and closed on another thread.",
                     [kind](Context& c) { other_thread(c, *kind); },
                     {open, same}});
    if (!kind->control_only) {
      suite.push_back({kind_test(8, *kind, "concurrent"),
                       "Sessions on several threads give the results of one alone.",
                       [kind](Context& c) { concurrent(c, *kind); },
                       {open, same}});
    }
  }
}

}  // namespace prism::conformance
