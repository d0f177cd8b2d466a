// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/analysis/pipeline_job.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <utility>

#include "tests/unit/graph/programs.hpp"

namespace prism::analysis::test {
namespace {

using graph::Kind;
using graph::test::Rig;

/// Adds nodes with their labels.
class Recorder {
 public:
  Recorder(Rank rank, uint32_t world_size) : rig(rank, world_size) {}

  void label(const std::string& name, const std::string& phase, int32_t micro_batch) {
    labels_.push_back({text(name), text(phase), micro_batch, -1, -1});
  }
  graph::Program finish() {
    graph::Program program = rig.finish();
    program.labels = std::move(labels_);
    program.texts = std::move(texts_);
    return program;
  }

  Rig rig;

 private:
  uint32_t text(const std::string& text) {
    const auto place = std::find(texts_.begin(), texts_.end(), text);
    const auto index = static_cast<uint32_t>(place - texts_.begin());
    if (place == texts_.end()) {
      texts_.push_back(text);
    }
    return index;
  }

  std::vector<graph::Labels> labels_;
  std::vector<std::string> texts_;
};

graph::Program program_of(const PipelineSpec& spec, uint32_t stage, uint32_t replica) {
  const Rank rank = stage * spec.replicas + replica;
  Recorder recorder(rank, spec.stages * spec.replicas);
  Rig& rig = recorder.rig;
  std::vector<Rank> chain;
  std::vector<Rank> copies;
  for (uint32_t s = 0; s < spec.stages; ++s) {
    chain.push_back(s * spec.replicas + replica);
  }
  for (uint32_t r = 0; r < spec.replicas; ++r) {
    copies.push_back(stage * spec.replicas + r);
  }
  const uint32_t pp = rig.group(spec.pipeline, chain, "nccl");
  const uint32_t dp = rig.group(spec.data_parallel, copies, "nccl");
  const auto last = static_cast<int32_t>(spec.stages) - 1;
  const auto own = static_cast<int32_t>(stage);
  const auto move = [&](Kind kind, int32_t peer, const std::string& phase, int32_t k) {
    if (peer >= 0 && peer <= last) {
      rig.message(kind, pp, peer, 1024);
      recorder.label(phase + (kind == Kind::Send ? "-send" : "-recv"), phase, k);
    }
  };
  for (const bool forward : {true, false}) {
    const std::string phase = forward ? "forward" : "backward";
    const int32_t step = forward ? 1 : -1;
    for (uint32_t k = 0; k < spec.micro_batches; ++k) {
      const auto number = static_cast<int32_t>(k);
      move(Kind::Recv, own - step, phase, number);
      rig.compute(spec.forward[stage] * (forward ? 1 : 2));
      recorder.label(phase + "-compute", phase, number);
      move(Kind::Send, own + step, phase, number);
    }
  }
  rig.collective(Kind::AllReduce, dp, 4096);
  recorder.label("gradients", "optimizer", -1);
  return recorder.finish();
}

}  // namespace

graph::Job pipeline_job(const PipelineSpec& spec) {
  std::vector<std::vector<Rank>> classes;
  std::vector<graph::Program> programs;
  for (uint32_t stage = 0; stage < spec.stages; ++stage) {
    for (uint32_t replica = 0; replica < spec.replicas; ++replica) {
      classes.push_back({stage * spec.replicas + replica});
      programs.push_back(program_of(spec, stage, replica));
    }
  }
  Result<graph::Job> job =
      graph::instantiate(spec.stages * spec.replicas, classes, std::move(programs));
  EXPECT_TRUE(job.ok()) << job.status().to_string();
  return std::move(job).value();
}

DurationNs pipeline_time(const PipelineSpec& spec) {
  const uint32_t m = spec.micro_batches;
  std::vector<DurationNs> free(spec.stages, 0);  // by stage: end of what it did last
  std::vector<DurationNs> there(m, 0);           // by micro-batch: when its data is there
  for (uint32_t stage = 0; stage < spec.stages; ++stage) {
    for (uint32_t k = 0; k < m; ++k) {
      free[stage] = there[k] = std::max(free[stage], there[k]) + spec.forward[stage];
    }
  }
  std::fill(there.begin(), there.end(), 0);
  for (uint32_t stage = spec.stages; stage-- > 0;) {
    for (uint32_t k = 0; k < m; ++k) {
      free[stage] = there[k] = std::max(free[stage], there[k]) + 2 * spec.forward[stage];
    }
  }
  return *std::max_element(free.begin(), free.end());
}

}  // namespace prism::analysis::test
