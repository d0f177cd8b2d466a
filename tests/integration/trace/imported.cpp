// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/trace/imported.hpp"

#include <filesystem>

#include "core/calibrate/calibrate.hpp"
#include "core/plugin/registry.hpp"
#include "core/replay/engine.hpp"

namespace prism::trace_test {

std::string data_file(const std::string& name) {
  const std::string path = std::string(PRISM_SHARED_DATA) + "/" + name;
  return std::filesystem::exists(path) ? path : "";
}

Result<calibrate::Observation> import_trace(const std::string& format,
                                            const std::vector<plugin::TraceFile>& files) {
  plugin::Registry registry({.overrides = {}, .roots = {PRISM_PLUGIN_ROOT}});
  PRISM_TRY_ASSIGN(const auto session, plugin::open_format(registry, format, {}));
  return session->import_trace(files);
}

Result<DurationNs> replayed_time(const calibrate::Observation& observation) {
  PRISM_TRY_ASSIGN(const calibrate::Calibrated calibrated, calibrate::calibrate(observation, {}));
  replay::ReplayOptions options;
  options.critical_path = false;
  PRISM_TRY_ASSIGN(const replay::ReplayResult result, replay::replay(calibrated.job, options));
  return result.end;
}

}  // namespace prism::trace_test
