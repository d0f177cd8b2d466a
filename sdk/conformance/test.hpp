// SPDX-License-Identifier: Apache-2.0
/// A conformance test: a function that returns when the plugin does right and stops otherwise.
///
///   void two_sessions(Context& context) {
///     context.doing("opening two sessions");     // told when the plugin crashes or hangs here
///     require(a != b, "both sessions have the same handle");
///   }
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "sdk/conformance/subject.hpp"

namespace prism::conformance {

enum class Outcome : uint32_t { Pass, Warn, Skip, Blocked, Fail, Crash, Timeout };

/// "pass", "warn", ...
std::string_view name_of(Outcome outcome);
/// Whether the plugin is not in order.
bool is_failure(Outcome outcome);

/// Begins the reason of a skipped test that the user could have run: a value of an option is
/// missing or cannot be used.
constexpr std::string_view kNoOptions = "no values for its options: ";
/// The same for a format of which there is no file.
constexpr std::string_view kNoSample = "no file of its format: ";

/// How a test ended.
struct Verdict {
  Outcome outcome = Outcome::Pass;
  std::string reason;  ///< empty only when there is nothing to say about a pass
};

/// Thrown to end a test; see fail() and its like.
struct Stop {
  Verdict verdict;
};
[[noreturn]] void fail(std::string reason);
[[noreturn]] void warn(std::string reason);
[[noreturn]] void skip(std::string reason);
/// Fails with `reason` unless `held`.
void require(bool held, const std::string& reason);

/// Memory that the test's process shares with the one that watches it, so that a word is left when
/// the plugin ends the process.
struct Report {
  static constexpr size_t kDoing = 512;
  static constexpr size_t kReason = 8192;
  uint32_t outcome;
  uint32_t finished;   ///< 1: outcome and reason are those of the test
  uint32_t came_back;  ///< 1: a copy of the process that the plugin forked came back from a call
  char doing[kDoing];
  char reason[kReason];

  void set_doing(std::string_view text);
  void set(const Verdict& verdict);
  Verdict verdict() const;
};

/// What a test function gets. One thread, but for doing().
class Context {
 public:
  Context(const Subject& subject, uint64_t seed, Report& report)
      : subject_(subject), seed_(seed), report_(report) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Subject& subject() const { return subject_; }
  uint64_t seed() const { return seed_; }
  /// Says what is being done, for the case that the plugin crashes or hangs.
  void doing(std::string_view what) {
    end_copy();
    report_.set_doing(what);
  }
  /// Ends a copy of the process that the plugin has forked: it would run all further tests again,
  /// and fork again in each of them.
  void end_copy();
  /// Something worth knowing about a test that passes.
  void note(std::string text) { note_ = std::move(text); }
  const std::string& note() const { return note_; }
  /// Bytes that the test's process has printed, on standard output and error.
  static uint64_t output_bytes();
  /// What has been printed so far is another test's subject.
  void forgive_output() { forgiven_output_ = output_bytes(); }
  uint64_t forgiven_output() const { return forgiven_output_; }

 private:
  const Subject& subject_;
  uint64_t seed_;
  Report& report_;
  const pid_t owner_ = getpid();
  std::string note_;
  uint64_t forgiven_output_ = 0;
};

struct Test {
  std::string name;  ///< "S3.init_twice": stage and subject
  std::string doc;   ///< one sentence: what holds for a good plugin
  std::function<void(Context&)> run;
  std::vector<std::string> depends_on;  ///< tests without which this one says nothing
  bool hidden = false;                  ///< part of another test: neither listed nor run by itself
  bool leaves_by_exit = false;          ///< its process ends like main(): with static destructors

  int stage() const;  ///< 0 to 10
};

/// Runs a test here, in this process. `report` hears what is being done.
Verdict run_here(const Test& test, const Subject& subject, uint64_t seed, Report& report);

}  // namespace prism::conformance
