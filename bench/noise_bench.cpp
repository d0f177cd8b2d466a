// SPDX-License-Identifier: Apache-2.0
/// Speed of drawing the times of all ranks from the noise of one measured replica (5 runs), for a
/// 3D-parallel job: tp 8, pp 16, 64 micro-batches; the rest of the ranks is data parallel.
/// Counter: draws_per_s, of durations and gaps.
#include <benchmark/benchmark.h>
#include <cstdlib>

#include "core/calibrate/noise.hpp"
#include "tests/synthetic/job.hpp"

namespace {

using namespace prism;

double varying(const graph::Job& job) {
  double count = 0;
  for (const graph::Class& c : job.classes) {
    for (const graph::Node& node : c.program.nodes) {
      const int of_node =
          (node.kind == graph::Kind::Compute && node.duration > 0 ? 1 : 0) + (node.gap > 0 ? 1 : 0);
      count += of_node * static_cast<double>(c.members.size());
    }
  }
  return count;
}

void draw_noise(benchmark::State& state) {
  synthetic::Spec spec;
  spec.tp = 8;
  spec.pp = 16;
  spec.dp = static_cast<uint32_t>(state.range(0)) / (spec.tp * spec.pp);
  spec.micro_batches = 64;
  spec.layers_per_stage = 2;
  spec.jitter = 0.05;
  auto trace = synthetic::make_trace(spec, 5);
  if (!trace.ok()) {
    std::abort();
  }
  const graph::IterationKind& kind = trace->kinds.front();
  auto noise = calibrate::Noise::estimate(kind, trace->times_from);
  if (!noise.ok()) {
    std::abort();
  }
  uint64_t iteration = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(noise->draw(1, iteration++).sets.data());
  }
  state.counters["draws_per_s"] =
      benchmark::Counter(varying(kind.job), benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK(draw_noise)->Arg(1024)->Arg(8192)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
