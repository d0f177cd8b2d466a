// SPDX-License-Identifier: Apache-2.0
/// The traces that `prism whatif` and `prism trace diff` look at.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/analysis/subject.hpp"
#include "core/base/status.hpp"
#include "core/cli/arguments.hpp"
#include "core/graph/trace.hpp"

namespace prism::cli {

struct AnalysedTrace {
  std::unique_ptr<graph::Trace> trace;  ///< at one place, which the subjects refer to
  std::vector<std::unique_ptr<analysis::Subject>> subjects;  ///< by kind of iteration
  std::vector<analysis::Run> runs;                           ///< ascending by iteration

  /// Of the most frequent kind of iteration.
  const analysis::Subject& subject() const { return *subjects.front(); }
};

/// Reads a trace. `files`: as FILE of `prism trace info`; --format and --option are those of
/// `arguments`. A bare graph is one run with the times of its programs. Errors: those of the
/// import, and ranks that do not fit together.
Result<AnalysedTrace> analysed_trace(const Arguments& arguments,
                                     const std::vector<std::string>& files);

/// Leaves the runs of one iteration. Errors (Domain::Config): the trace does not show it.
Status keep_iteration(AnalysedTrace& trace, const Arguments& arguments);

/// "microbatch trace: 8 ranks, 4 stages (places in 'pp'), 2 replicas (...), 3 iterations".
std::string in_words(const AnalysedTrace& trace);

}  // namespace prism::cli
