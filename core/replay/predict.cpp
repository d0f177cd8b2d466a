// SPDX-License-Identifier: Apache-2.0
#include "core/replay/predict.hpp"

#include <algorithm>
#include <map>

#include "core/replay/engine.hpp"

namespace prism::replay {
namespace {

DurationNs median(std::vector<DurationNs> samples) {
  return quantile(std::move(samples), 0.5);
}

/// Samples of one class over iterations and repeats.
struct ClassSamples {
  std::vector<DurationNs> compute;
  std::vector<DurationNs> communication;
  std::vector<DurationNs> waiting;
};

}  // namespace

Result<Prediction> predict(const PredictInput& input) {
  PRISM_ASSERT(!input.repeats.empty() && !input.iterations.empty());
  Prediction prediction;
  std::vector<ClassSamples> samples(input.repeats.front().classes.size());
  std::map<graph::Kind, DurationNs> critical;
  ReplayOptions options;
  options.first_iteration = input.iterations.front();
  options.last_iteration = input.iterations.back();
  for (const graph::Job& job : input.repeats) {
    PRISM_TRY_ASSIGN(const ReplayResult result, replay(job, options));
    for (const uint32_t iteration : input.iterations) {
      prediction.iteration_times.push_back(result.iteration_time[iteration]);
      for (size_t c = 0; c < samples.size(); ++c) {
        const TimeSplit& split = result.classes[c].representative[iteration];
        samples[c].compute.push_back(split.compute);
        samples[c].communication.push_back(split.communication);
        samples[c].waiting.push_back(split.waiting);
      }
    }
    for (const auto& [kind, ns] : result.critical_path.by_kind) {
      critical[kind] += ns;
    }
    prediction.nodes = result.nodes;
  }
  prediction.iteration_time = spread_of(prediction.iteration_times);
  for (size_t c = 0; c < samples.size(); ++c) {
    const graph::Class& of_class = input.repeats.front().classes[c];
    ClassTime time;
    time.representative = of_class.members[of_class.representative];
    time.members = static_cast<uint32_t>(of_class.members.size());
    time.compute = median(std::move(samples[c].compute));
    time.communication = median(std::move(samples[c].communication));
    time.waiting = median(std::move(samples[c].waiting));
    prediction.classes.push_back(time);
  }
  prediction.critical_path.assign(critical.begin(), critical.end());
  std::sort(prediction.critical_path.begin(), prediction.critical_path.end(),
            [](const auto& a, const auto& b) { return a.second > b.second; });
  return prediction;
}

}  // namespace prism::replay
