// SPDX-License-Identifier: Apache-2.0
/// The traces that a command is given: .prism files, or those that a format plugin reads.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/status.hpp"
#include "core/calibrate/calibrate.hpp"
#include "core/calibrate/observation.hpp"
#include "core/cli/arguments.hpp"
#include "core/plugin/formats.hpp"
#include "core/plugin/registry.hpp"

namespace prism::cli {

/// --format, --option and the search flags.
std::vector<Flag> with_trace_flags(std::vector<Flag> own);
/// What FILE... may be, for the help of such commands.
extern const char* const kTraceFiles;

/// Loads a format plugin, after a trial in a process of its own. `options`: words KEY=VALUE, the
/// others have their defaults.
Result<std::unique_ptr<plugin::Format>> open_format(plugin::Registry& registry,
                                                    const std::string& id,
                                                    const std::vector<std::string>& options);

/// What the words of FILE are.
struct TraceInput {
  std::string origin;  ///< "kineto trace", "a slice", ...
  /// What was observed, one for each slice; or else
  std::vector<calibrate::Observation> slices;
  /// what has been calibrated already.
  std::optional<graph::Trace> trace;
};

/// Reads the words of FILE: .prism files (slices, or one trace), else files of one trace for a
/// format plugin: a path, or RANK=PATH. Without --format the installed formats are asked whose file
/// the first one is. Errors: none or several say that it is theirs; what the importer says. Where
/// the trace shows no iterations, all of it is one.
Result<TraceInput> read_input(const Arguments& arguments);

/// The same, and the waiting taken out of what was observed. Errors: those of calibrate.
Result<calibrate::Calibrated> calibrated_input(const Arguments& arguments,
                                               const calibrate::CalibrateOptions& options = {});

/// --output's path. Errors: it is missing, has no folder, or is one of FILE or --graph.
Result<std::string> output_path(const Arguments& arguments);

/// A file that may grow no more (ulimit -f) is from now on an error of the write, with its message
/// and without leftovers, and no signal. Not where plugins run that must not fill the disk.
void full_file_is_an_error();

/// Slices put together to whole runs: a rank that comes again begins another repeat. Errors: worlds
/// of different size, the same slice twice.
Result<std::vector<calibrate::Observation>> repeats_of(std::vector<calibrate::Observation> slices);

}  // namespace prism::cli
