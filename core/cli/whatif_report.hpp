// SPDX-License-Identifier: Apache-2.0
/// What `prism whatif` has found, as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/analysis/attribution.hpp"
#include "core/analysis/edit.hpp"
#include "core/analysis/outcome.hpp"
#include "core/cli/analysed_trace.hpp"

namespace prism::cli {

struct AppliedEdit {
  std::string option;  ///< "--scale"
  std::string text;
  analysis::Edited edited;  ///< the sum over the iterations
};

struct WhatIf {
  const AnalysedTrace* trace = nullptr;
  std::vector<AppliedEdit> edits;
  std::vector<DurationNs> before;  ///< iteration times, in the order of the runs
  std::vector<DurationNs> after;   ///< the same without edits
  analysis::PathSummary path_before;
  analysis::PathSummary path_after;
  analysis::Attribution attribution;  ///< of the job as edited
};

std::string render_text(const WhatIf& report);
/// docs/what-if.md describes it.
std::string render_json(const WhatIf& report);

}  // namespace prism::cli
