// SPDX-License-Identifier: Apache-2.0
/// What a router costs on one core: counts, assignment, logits into memory that was touched before,
/// for 1M tokens, top-8 (arguments: experts, exponent of Zipf's law in tenths; 0: balanced).
/// Counter: tokens_per_s.
#include <benchmark/benchmark.h>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <span>
#include <vector>

#include "plugins/routers/zipf/zipf_counts.hpp"
#include "prism/routing/assign.hpp"
#include "prism/routing/logits.hpp"
#include "prism/routing/shuffle.hpp"

namespace {

using prism::routing::Shape;

constexpr uint64_t kTokens = 1'000'000;
constexpr uint32_t kTopK = 8;

Shape shape_of(const benchmark::State& state) {
  return {kTokens, static_cast<uint32_t>(state.range(0)), kTopK};
}

std::vector<uint64_t> counts_of(const benchmark::State& state, uint64_t seed) {
  prism::sdk::Random random(seed);
  std::vector<uint64_t> counts = prism::zipf::counts_by_heat(
      kTokens, shape_of(state).experts, kTopK, static_cast<double>(state.range(1)) / 10, random);
  prism::routing::shuffle(std::span(counts), random);
  return counts;
}

std::vector<uint32_t> assignment_of(const benchmark::State& state) {
  std::vector<uint32_t> assignment(kTokens * kTopK);
  if (!prism::routing::assign(shape_of(state), counts_of(state, 1), 1, assignment).empty()) {
    std::abort();
  }
  return assignment;
}

void report(benchmark::State& state) {
  state.counters["tokens_per_s"] = benchmark::Counter(
      static_cast<double>(kTokens), benchmark::Counter::kIsIterationInvariantRate);
}

void counts(benchmark::State& state) {
  uint64_t seed = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(counts_of(state, ++seed).data());
  }
  report(state);
}

void assign(benchmark::State& state) {
  const std::vector<uint64_t> counts = counts_of(state, 1);
  std::vector<uint32_t> assignment(kTokens * kTopK);
  uint64_t seed = 0;
  for (auto _ : state) {
    if (!prism::routing::assign(shape_of(state), counts, ++seed, assignment).empty()) {
      std::abort();
    }
  }
  report(state);
}

template <typename Logit>
void logits(benchmark::State& state) {
  const Shape shape = shape_of(state);
  const std::vector<uint32_t> assignment = assignment_of(state);
  std::vector<Logit> out(shape.tokens * shape.experts);
  for (auto _ : state) {
    if (!prism::routing::logits(shape, assignment, std::span(out)).empty()) {
      std::abort();
    }
  }
  report(state);
}

void shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"experts", "exponent_x10"})->Unit(benchmark::kMillisecond);
  for (const int64_t experts : {128, 256}) {
    for (const int64_t exponent : {0, 10, 12}) {
      benchmark->Args({experts, exponent});
    }
  }
}

BENCHMARK(counts)->Apply(shapes);
BENCHMARK(assign)->Apply(shapes);
BENCHMARK_TEMPLATE(logits, uint16_t)->Apply(shapes);
BENCHMARK_TEMPLATE(logits, float)->Apply(shapes);

}  // namespace

BENCHMARK_MAIN();
