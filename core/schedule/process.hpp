// SPDX-License-Identifier: Apache-2.0
/// One process under the guard, to its end.
#pragma once

#include <chrono>
#include <functional>

#include "core/base/status.hpp"
#include "core/schedule/launcher.hpp"

namespace prism::schedule {

struct ProcessLimits {
  int interrupt_fd = -1;               ///< readable once the user wants to stop; -1: none
  std::chrono::nanoseconds timeout{};  ///< longest time in which `activity` stays the same
  std::function<uint64_t()> activity;  ///< a number that changes while the process gets on
};

/// Starts a process and waits until it ends. Errors: Interrupted, DeadlineExceeded, those of the
/// launcher. The process may still run then: the launcher's destructor ends it.
Result<ProcessExit> run_process(Launcher& launcher, const LaunchSpec& spec,
                                const ProcessLimits& limits);

}  // namespace prism::schedule
