// SPDX-License-Identifier: Apache-2.0
/// Runs logical ranks under their agents, a few at a time, and keeps what they report.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/status.hpp"
#include "core/schedule/launcher.hpp"
#include "core/schedule/policy.hpp"
#include "core/schedule/runtime.hpp"
#include "prism/wire/agent.hpp"

namespace prism::schedule {

/// One execution of one rank.
struct RankRun {
  RankSpec spec;       ///< agent_fd is set by the coordinator
  std::string folder;  ///< exists; gets stdout, stderr, events
  std::string cwd;
  wire::Welcome welcome;         ///< what its agent is told at the start
  uint32_t repeat = 1;           ///< for messages
  std::optional<uint32_t> core;  ///< the only core it may run on; none: any free one
};

/// What the coordinator tells while it works. Called on the thread of run_ranks.
struct Progress {
  std::function<void(const RankRun&)> started;
  std::function<void(const RankRun&, uint64_t communications)> advanced;
  std::function<void(const RankRun&)> finished;
};

struct CoordinatorOptions {
  std::vector<uint32_t> cores;         ///< one rank at a time on each; not empty
  std::chrono::nanoseconds timeout{};  ///< longest time without an event of a running rank
  int interrupt_fd = -1;               ///< readable once the user wants to stop; -1: none
};

/// Runs all of `runs`, at most one per core at a time, in order; one whose core is busy lets others
/// go first. Stops at the first failure: what
/// still runs is killed by the destructor of the launcher.
/// A run's folder is complete when `finished` is called for it. Errors (Domain::Run unless said):
///  - the script raised, called sys.exit with another code than 0, or was killed: rank, traceback
///  or
///    the last lines of its standard error, where its logs are;
///  - no event for `timeout`: the last operation and the stacks of the rank's threads;
///  - a rank that never spoke (no torch), or that speaks another protocol;
///  - Interrupted.
Status run_ranks(const std::vector<RankRun>& runs, Launcher& launcher, Runtime& runtime,
                 VerdictPolicy& policy, const CoordinatorOptions& options,
                 const Progress& progress);

}  // namespace prism::schedule
