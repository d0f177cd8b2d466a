// SPDX-License-Identifier: Apache-2.0
/// The job at a small world size, for real and predicted, side by side.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.hpp"
#include "core/base/statistics.hpp"
#include "core/schedule/core_usage.hpp"
#include "prism/link/link.hpp"

namespace prism::cli {

struct Verification {
  uint32_t world_size = 0;
  /// Of this machine, by round: it is measured, the ranks are recorded, the job is run for real.
  std::vector<link::Link> links;
  Spread predicted;                    ///< over all rounds
  Spread measured;                     ///< over all rounds
  schedule::CoreUsage while_recorded;  ///< of the ranks' cores
  schedule::CoreUsage while_real;      ///< of the ranks' cores
  bool args_given = false;   ///< by [verify.N]; else those of the job were taken unchanged
  uint32_t late_aborts = 0;  ///< ranks that aborted at exit after training had ended well
};

std::string verification_text(const Verification& verification);
/// What has to be said where others took the ranks' cores for so long that a difference between
/// measured and predicted may come from that.
std::optional<std::string> note_taken_cores(const Verification& verification);
/// The member "verify" of docs/metrics.md.
void write_verification(JsonWriter& json, const Verification& verification);

}  // namespace prism::cli
