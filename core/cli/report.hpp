// SPDX-License-Identifier: Apache-2.0
/// What `prism run` has found, as text for people and as metrics.json (docs/metrics.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/statistics.hpp"
#include "core/cli/verification.hpp"
#include "core/replay/predict.hpp"
#include "core/schedule/recorder.hpp"

namespace prism::cli {

/// One class of ranks and what was executed for it.
struct ClassReport {
  Rank representative = 0;
  uint32_t members = 0;
  uint32_t runs = 0;            ///< of the representative
  std::vector<Rank> checked;    ///< members that were executed and agree
  uint64_t communications = 0;  ///< of a run of the representative
  uint32_t training_iterations = 0;
  DurationNs agent_cost_ns = 0;  ///< of the first run
  double cpu_share = 1;  ///< of the compute time of all runs: how much the threads really ran
};

struct RunReport {
  std::string name;
  std::string run_dir;
  uint32_t world_size = 0;
  uint64_t executed = 0;
  uint64_t reused = 0;
  std::vector<ClassReport> classes;
  replay::Prediction prediction;
  std::vector<schedule::MadeUpCount> made_up;  ///< sum over one run of each executed member
  uint32_t made_up_ranks = 0;                  ///< how many those are
  std::vector<std::string> notes;              ///< what a reader of the figures must know
  std::string versions;                        ///< lines "key=value"
  uint32_t timeline_ranks = 0;                 ///< that timeline.json shows; 0: there is none
  uint32_t timeline_iteration = 0;
  std::optional<Verification> verification;
};

std::string render_text(const RunReport& report);
/// Schema 1 of docs/metrics.md.
std::string render_metrics(const RunReport& report);

}  // namespace prism::cli
