// SPDX-License-Identifier: Apache-2.0
/// prism.format/1 as core uses it. Thread: [control]. Errors begin with the plugin and its
/// function.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"
#include "core/calibrate/observation.hpp"
#include "core/graph/job.hpp"
#include "core/plugin/adapters.hpp"
#include "core/replay/engine.hpp"

namespace prism::plugin {

struct TraceFile {
  std::string path;
  std::optional<Rank> rank;  ///< as the user said it
};

class Format {
 public:
  virtual ~Format() = default;
  virtual bool imports() const = 0;
  virtual bool exports() const = 0;
  virtual bool recognises(const std::string& path) = 0;
  /// Errors (Domain::Run): what the importer says of a file, or what it says that cannot be.
  virtual Result<calibrate::Observation> import_trace(const std::vector<TraceFile>& files) = 0;
  /// Writes the ranks of `times` to `path`, which gets its name when it is complete.
  /// `first_iteration`: what the job's iteration 0 is called.
  virtual Status export_trace(const graph::Job& job,
                              const std::vector<replay::RecordedTimes>& times,
                              uint32_t first_iteration, const std::string& path) = 0;
};

/// Loads the plugin and opens a session; destroying the result closes it.
Result<std::unique_ptr<Format>> open_format(Registry& registry, std::string_view id,
                                            OptionValues values);

}  // namespace prism::plugin
