// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/trace/imported.hpp"

#include <filesystem>
#include <random>

#include "core/plugin/registry.hpp"

namespace prism::trace_test {

bool has_plugin(const std::string& id) {
  return std::filesystem::exists(std::string(PRISM_PLUGIN_ROOT) + "/" + id);
}

Result<calibrate::Observation> import_trace(const std::string& format,
                                            const std::vector<plugin::TraceFile>& files,
                                            plugin::OptionValues options) {
  plugin::Registry registry({.overrides = {}, .roots = {PRISM_PLUGIN_ROOT}});
  PRISM_TRY_ASSIGN(const auto session, plugin::open_format(registry, format, options));
  return session->import_trace(files);
}

void set_clocks(calibrate::Observation& observation, const std::vector<std::vector<Rank>>& slices,
                uint64_t seed) {
  std::mt19937_64 random(seed);
  for (uint32_t clock = 0; clock < slices.size(); ++clock) {
    const auto shift = static_cast<TimeNs>(random() % 1'000'000'000'000);
    for (const Rank member : slices[clock]) {
      calibrate::ObservedRank& rank = observation.ranks[member];
      rank.clock = clock;
      for (std::vector<calibrate::Span>* spans : {&rank.nodes, &rank.parts}) {
        for (calibrate::Span& span : *spans) {
          span = {span.start + shift, span.end + shift};
        }
      }
    }
  }
}

Result<Calibrated> calibrate_and_replay(const calibrate::Observation& observation, bool whole) {
  Calibrated result;
  calibrate::CalibrateOptions of_times;
  of_times.whole = whole;
  PRISM_TRY_ASSIGN(result.calibrated, calibrate::calibrate(observation, of_times));
  replay::ReplayOptions options;
  options.critical_path = false;
  for (Rank rank = 0; rank < observation.world_size; ++rank) {
    options.record.push_back(rank);
  }
  for (const graph::IterationKind& kind : result.calibrated.trace.kinds) {
    for (const graph::Sample& sample : kind.samples) {
      PRISM_TRY_ASSIGN(replay::ReplayResult replayed,
                       replay::replay(kind.job, sample.times, options));
      result.replayed.push_back(std::move(replayed));
      result.iterations.push_back(sample.iteration);
    }
  }
  return result;
}

}  // namespace prism::trace_test
