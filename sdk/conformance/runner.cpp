// SPDX-License-Identifier: Apache-2.0
#include "sdk/conformance/runner.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "sdk/conformance/child.hpp"

namespace prism::conformance {
namespace {

/// Hands out tests whose dependencies are done.
class Schedule {
 public:
  Schedule(const Subject& subject, const Suite& tests, const RunOptions& options)
      : subject_(subject), tests_(tests), options_(options), states_(tests.size()) {}

  /// Takes and runs tests until none is left.
  void work() {
    while (const std::optional<size_t> index = take()) {
      const Test& test = tests_[*index];
      using Clock = std::chrono::steady_clock;
      const Clock::time_point begin = Clock::now();
      const Verdict verdict = run(test);
      const std::chrono::duration<double, std::milli> took = Clock::now() - begin;
      finish(*index, {test.name, test.stage(), verdict, took.count()});
    }
  }

  /// Waits for the result of a test.
  const TestResult& result(size_t index) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return states_[index].result.has_value(); });
    return *states_[index].result;
  }

 private:
  struct State {
    bool taken = false;
    std::optional<TestResult> result;
  };

  Verdict run(const Test& test) const {
    if (!options_.in_process) {
      return run_in_child(subject_, test.name, options_.seed, options_.timeout_s);
    }
    Report report{};
    return run_here(test, subject_, options_.seed, report);
  }

  void finish(size_t index, TestResult result) {
    const std::lock_guard lock(mutex_);
    states_[index].result = std::move(result);
    changed_.notify_all();
  }

  const State* find(const std::string& name) const {
    for (size_t i = 0; i < tests_.size(); ++i) {
      if (tests_[i].name == name) {
        return &states_[i];
      }
    }
    return nullptr;  // not chosen by the user: then it holds nobody up
  }

  /// What keeps a test from running, once its dependencies are known.
  std::optional<Verdict> obstacle(const Test& test) const {
    for (const std::string& name : test.depends_on) {
      const State* needed = find(name);
      const Outcome outcome =
          needed != nullptr && needed->result ? needed->result->verdict.outcome : Outcome::Pass;
      if (outcome == Outcome::Skip) {
        return Verdict{Outcome::Skip, name + " was skipped"};
      }
      if (outcome != Outcome::Pass && outcome != Outcome::Warn) {
        return Verdict{Outcome::Blocked, "by " + name};
      }
    }
    return std::nullopt;
  }

  bool ready(const Test& test) const {
    for (const std::string& name : test.depends_on) {
      const State* needed = find(name);
      if (needed != nullptr && !needed->result) {
        return false;
      }
    }
    return true;
  }

  std::optional<size_t> take() {
    std::unique_lock lock(mutex_);
    while (true) {
      bool left = false;
      for (size_t i = 0; i < tests_.size(); ++i) {
        if (states_[i].taken) {
          continue;
        }
        if (!ready(tests_[i])) {
          left = true;
          continue;
        }
        states_[i].taken = true;
        if (const std::optional<Verdict> verdict = obstacle(tests_[i])) {
          states_[i].result = TestResult{tests_[i].name, tests_[i].stage(), *verdict, 0};
          changed_.notify_all();
          continue;
        }
        return i;
      }
      if (!left) {
        return std::nullopt;
      }
      changed_.wait(lock);
    }
  }

  const Subject& subject_;
  const Suite& tests_;
  const RunOptions& options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<State> states_;
};

}  // namespace

std::vector<TestResult> run_suite(const Subject& subject, const Suite& tests,
                                  const RunOptions& options,
                                  const std::function<void(const TestResult&)>& tell) {
  Schedule schedule(subject, tests, options);
  std::vector<std::thread> workers;
  std::vector<TestResult> results;
  if (options.in_process) {
    schedule.work();  // in the caller's own thread, where a debugger looks first
  }
  for (unsigned i = 0; !options.in_process && i < std::max(options.jobs, 1U); ++i) {
    workers.emplace_back([&] { schedule.work(); });
  }
  for (size_t i = 0; i < tests.size(); ++i) {
    results.push_back(schedule.result(i));
    tell(results.back());
  }
  for (std::thread& worker : workers) {
    worker.join();
  }
  return results;
}

}  // namespace prism::conformance
