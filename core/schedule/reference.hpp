// SPDX-License-Identifier: Apache-2.0
/// The job for real at a small world size, and the link that it uses: what a prediction is held
/// against.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/status.hpp"
#include "core/schedule/launcher.hpp"
#include "core/schedule/process.hpp"
#include "core/schedule/runtime.hpp"
#include "prism/link/link.hpp"

namespace prism::schedule {

struct ReferenceRun {
  /// By iteration: from the end of the one before it, on whatever rank that was last, to its own
  /// end. The first counts from the start of the last rank. Read from the ranks' marks; they share
  /// the machine's monotonic clock.
  std::vector<DurationNs> iteration_times;
  uint32_t late_aborts = 0;  ///< ranks that aborted at exit, after training had ended well
};

/// Runs the whole program and reads the marks of its ranks. `folder` exists; it gets marks.r,
/// stdout and stderr. gloo may abort a process while it exits (signal 6, "terminate called without
/// an active exception"): that is accepted when all ranks have finished the same iterations, and
/// counted. Errors: the program failed (with the end of its standard error), ranks without marks or
/// with different numbers of iterations, no optimizer step, what run_process says.
Result<ReferenceRun> run_reference(Launcher& launcher, Runtime& runtime, ReferenceSpec spec,
                                   const std::string& folder, const std::string& cwd,
                                   const ProcessLimits& limits);

/// A figure with the quartiles of its repetitions.
struct Quartiles {
  int64_t low = 0;
  int64_t median = 0;
  int64_t high = 0;
};

struct MeasuredLink {
  Quartiles latency_ns;
  Quartiles per_message_ns;
  Quartiles bandwidth;         ///< bytes per second
  Quartiles reduce_bandwidth;  ///< bytes per second
  Quartiles copy_bandwidth;    ///< bytes per second
  link::Link medians() const;
};

/// Measures between two processes, each pinned to one core. `folder` as above.
Result<MeasuredLink> measure_link(Launcher& launcher, Runtime& runtime, uint32_t first_core,
                                  uint32_t second_core, const std::vector<std::string>& env,
                                  const std::string& folder, const ProcessLimits& limits);

/// The measured figures as a [link.default] table for an experiment file.
std::string render_toml(const MeasuredLink& link);

}  // namespace prism::schedule
