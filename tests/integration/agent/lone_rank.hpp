// SPDX-License-Identifier: Apache-2.0
/// A coordinator for tests: runs a Python script as logical rank r of W with the torch plugin's own
/// command line, answers the agent, and keeps all that it said.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "prism/wire/agent.hpp"

namespace prism::test {

struct RankSetup {
  std::string script;  ///< of the scripts folder, or absolute
  uint32_t rank = 0;
  uint32_t world_size = 1;
  std::vector<std::string> args{};
  std::map<std::string, std::string> env{};           ///< added to a small environment
  std::map<std::string, std::string> override_env{};  ///< replaces what the plugin sets
  uint64_t seed = 1;
  std::chrono::seconds patience{120};
  /// What to answer to an OP or WAIT; Block is followed by Go. Default: Go.
  std::function<wire::Verdict(const wire::Frame&)> decide{};
  uint64_t hang_up_at_op = 0;  ///< closes the socket instead of answering this OP
  /// Called when nothing was said for `quiet`, with the process id.
  std::chrono::milliseconds quiet{0};
  std::function<void(int pid)> on_quiet{};
};

struct RankRun {
  std::vector<wire::Frame> frames;
  int exit_code = -1;  ///< valid when signal is 0
  int signal = 0;
  bool timed_out = false;
  std::string protocol_error;
  std::string out;
  std::string err;

  template <typename Message>
  std::vector<Message> all() const {
    std::vector<Message> found;
    for (const wire::Frame& frame : frames) {
      if (const auto* message = std::get_if<Message>(&frame.message)) {
        found.push_back(*message);
      }
    }
    return found;
  }
  /// Sum of made-up bytes, by wire::kMadeUp.
  uint64_t made_up(uint8_t source) const;
  /// For messages of failed assertions.
  std::string describe() const;
};

RankRun run_rank(const RankSetup& setup);

/// The plugin's stack signal.
int stack_signal();

struct Probe {
  int32_t status = 0;
  std::string lines;
  std::string error;
};

/// Calls probe() of the plugin in `folder` (empty: of the build tree) with the option `python`.
Probe probe(const std::string& python, const std::vector<std::string>& env,
            const std::string& folder = {});

/// Why no rank can run here; empty where one can.
std::string why_not();

/// The Python with torch that the tests use.
std::string test_python();

}  // namespace prism::test
