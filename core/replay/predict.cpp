// SPDX-License-Identifier: Apache-2.0
#include "core/replay/predict.hpp"

#include <algorithm>
#include <map>
#include <utility>

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

class Predictor {
 public:
  explicit Predictor(const graph::Trace& trace)
      : trace_(trace), samples_(trace.kinds.front().job.classes.size()) {}

  Result<Prediction> run() {
    for (const graph::IterationKind& kind : trace_.kinds) {
      if (kind.samples.empty()) {
        PRISM_TRY(add(kind, {}));
      }
      for (const graph::Sample& sample : kind.samples) {
        PRISM_TRY(add(kind, sample.times));
      }
    }
    prediction_.iteration_time = spread_of(prediction_.iteration_times);
    for (size_t c = 0; c < samples_.size(); ++c) {
      add_class(trace_.kinds.front().job.classes[c], std::move(samples_[c]));
    }
    prediction_.critical_path.assign(critical_.begin(), critical_.end());
    std::sort(prediction_.critical_path.begin(), prediction_.critical_path.end(),
              [](const auto& a, const auto& b) { return a.second > b.second; });
    return std::move(prediction_);
  }

 private:
  Status add(const graph::IterationKind& kind, const graph::Times& times) {
    const std::vector<uint32_t> counted = graph::counted_iterations(kind);
    ReplayOptions options;
    options.first_iteration = counted.front();
    options.last_iteration = counted.back();
    PRISM_TRY_ASSIGN(const ReplayResult result, replay(kind.job, times, options));
    const bool alone = result.iteration_time.size() <= 1;
    for (const uint32_t iteration : counted) {
      prediction_.iteration_times.push_back(alone ? result.end : result.iteration_time[iteration]);
      // Kinds of one trace have the same classes.
      for (size_t c = 0; c < samples_.size(); ++c) {
        const TimeSplit& split = result.classes[c].representative[iteration];
        samples_[c].compute.push_back(split.compute);
        samples_[c].communication.push_back(split.communication);
        samples_[c].waiting.push_back(split.waiting);
      }
    }
    for (const auto& [kind_of_node, ns] : result.critical_path.by_kind) {
      critical_[kind_of_node] += ns;
    }
    prediction_.nodes = result.nodes;
    return {};
  }

  void add_class(const graph::Class& of_class, ClassSamples samples) {
    ClassTime time;
    time.representative = of_class.members[of_class.representative];
    time.members = static_cast<uint32_t>(of_class.members.size());
    time.compute = median(std::move(samples.compute));
    time.communication = median(std::move(samples.communication));
    time.waiting = median(std::move(samples.waiting));
    prediction_.classes.push_back(time);
  }

  const graph::Trace& trace_;
  Prediction prediction_;
  std::vector<ClassSamples> samples_;
  std::map<graph::Kind, DurationNs> critical_;
};

}  // namespace

Result<Prediction> predict(const graph::Trace& trace) {
  return Predictor(trace).run();
}

}  // namespace prism::replay
