// SPDX-License-Identifier: Apache-2.0
/// Imports real traces with the plugins of this build.
#pragma once

#include <string>
#include <vector>

#include "core/calibrate/calibrate.hpp"
#include "core/calibrate/observation.hpp"
#include "core/plugin/formats.hpp"
#include "core/replay/engine.hpp"

namespace prism::trace_test {

/// Whether this build has the plugin: it may lack what the plugin needs.
bool has_plugin(const std::string& id);

Result<calibrate::Observation> import_trace(const std::string& format,
                                            const std::vector<plugin::TraceFile>& files,
                                            plugin::OptionValues options = {});

/// The ranks of each of `slices` get a clock of their own, which is off by a random time.
void set_clocks(calibrate::Observation& observation, const std::vector<std::vector<Rank>>& slices,
                uint64_t seed);

struct Calibrated {
  calibrate::Calibrated calibrated;
  /// Of each sample, with the times of all ranks: kind after kind.
  std::vector<replay::ReplayResult> replayed;
  std::vector<uint32_t> iterations;  ///< of the samples
};
Result<Calibrated> calibrate_and_replay(const calibrate::Observation& observation, bool whole);

}  // namespace prism::trace_test
