// SPDX-License-Identifier: Apache-2.0
/// Whether the host keeps the thread rules of prism/abi/threads.h. One ThreadRules per session of a
/// plugin; each call of one of its functions is announced:
///
///   const auto call = rules_.enter(ThreadTag::Worker, "fill");   // until the end of the scope
///   table->fill(...);
///
/// A broken rule is a bug of the host: one line on standard error that names the function and the
/// rule, and exit code 70. Nothing is checked, and next to nothing is spent, unless
/// PRISM_CHECK_THREADS=1 is in the environment.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <utility>

namespace prism::host {

/// The tags of prism/abi/threads.h that a session's functions have; [any] needs no check.
enum class ThreadTag { Control, Worker };

inline bool check_threads_wanted() {
  const char* value = std::getenv("PRISM_CHECK_THREADS");
  return value != nullptr && std::string_view(value) == "1";
}

class ThreadRules {
 public:
  /// `who` begins the message: "plugin 'zipf'". Any thread.
  explicit ThreadRules(std::string who, bool enabled = check_threads_wanted())
      : who_(std::move(who)), enabled_(enabled) {}
  ThreadRules(const ThreadRules&) = delete;
  ThreadRules& operator=(const ThreadRules&) = delete;

  /// One call, from its construction to its destruction.
  class Call {
   public:
    ~Call() {
      if (rules_ != nullptr) {
        rules_->leave(tag_);
      }
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    friend class ThreadRules;
    Call(ThreadRules* rules, ThreadTag tag) : rules_(rules), tag_(tag) {}
    ThreadRules* rules_;
    ThreadTag tag_;
  };

  /// `function`: static text. Ends the process where the rule of `tag` does not hold. Any thread.
  Call enter(ThreadTag tag, const char* function) {
    if (!enabled_) {
      return {nullptr, tag};
    }
    const char* other = nullptr;
    if (!running_.compare_exchange_strong(other, function)) {
      broken(tag, function, std::string(other) + "() is running on the same session");
    }
    if (tag == ThreadTag::Control) {
      std::thread::id nobody{};
      if (!control_thread().compare_exchange_strong(nobody, std::this_thread::get_id())) {
        broken(tag, function, "another [control] function is running");
      }
    }
    return {this, tag};
  }

 private:
  void leave(ThreadTag tag) {
    if (tag == ThreadTag::Control) {
      control_thread().store(std::thread::id{});
    }
    running_.store(nullptr);
  }

  /// Who runs a [control] function of any plugin now.
  static std::atomic<std::thread::id>& control_thread() {
    static std::atomic<std::thread::id> thread{};
    return thread;
  }

  [[noreturn]] void broken(ThreadTag tag, const char* function, const std::string& what) const {
    const bool control = tag == ThreadTag::Control;
    std::fprintf(stderr,
                 "prism: bug: %s: %s() [%s] is called while %s; the rule: %s "
                 "(PRISM_CHECK_THREADS)\n",
                 who_.c_str(), function, control ? "control" : "worker", what.c_str(),
                 control ? "one [control] call at a time, and never while another function runs "
                           "on the same session"
                         : "[worker] functions never run concurrently within one session");
    constexpr int kBug = 70;
    ::_exit(kBug);
  }

  std::string who_;
  bool enabled_;
  std::atomic<const char*> running_{nullptr};
};

}  // namespace prism::host
