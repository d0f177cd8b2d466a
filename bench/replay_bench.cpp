// SPDX-License-Identifier: Apache-2.0
/// Speed and memory of instantiation, checks and replay for an FSDP-like job of growing size, and
/// of the replay of a 3D-parallel job in which every rank has times of its own.
/// Counters: nodes_per_s (nodes x ranks), bytes_per_node (peak of the heap during the call, over
/// nodes x ranks), nodes. Linear in the number of ranks means: both stay as they are.
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <malloc.h>
#include <new>
#include <numeric>

#include "core/graph/builder.hpp"
#include "core/graph/check.hpp"
#include "core/replay/engine.hpp"
#include "tests/synthetic/job.hpp"

namespace {

size_t g_heap = 0;
size_t g_heap_peak = 0;

void* counted(void* memory) {
  if (memory == nullptr) {
    std::abort();
  }
  g_heap += malloc_usable_size(memory);
  g_heap_peak = g_heap > g_heap_peak ? g_heap : g_heap_peak;
  return memory;
}

}  // namespace

// Not inlined: g++ 12 would take malloc and operator delete for a mismatched pair.
[[gnu::noinline]] void* operator new(size_t size) {
  return counted(std::malloc(size));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  g_heap -= malloc_usable_size(memory);
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  operator delete(memory);
}

namespace {

using namespace prism;
using graph::Builder;
using graph::Collective;
using graph::Kind;
using graph::LaneKind;

constexpr int kLayers = 32;
constexpr int kIterations = 5;

/// Gathers run ahead of the layers that need them, gradients are reduced behind; one more
/// collective with a neighbour group at the end of each iteration. As the recorder makes it on the
/// CPU device: communications on their lanes, their data moved on the CPU lane.
graph::Program fsdp(uint32_t world_size) {
  std::vector<Rank> world(world_size);
  std::iota(world.begin(), world.end(), 0);
  Builder b(0, world_size);
  const uint32_t group = b.add_communicator({"default_pg", "", "gloo", world});
  const uint32_t cpu = b.add_lane(LaneKind::Cpu, "cpu:0");
  const uint32_t comm = b.add_lane(LaneKind::Comm, "comm:default_pg");
  const auto collective = [&](Kind kind) {
    Collective c{kind, group, PRISM_DTYPE_F32};
    c.input_bytes = 1 << 20;
    c.output_bytes = 1 << 20;
    c.duration = 1000;
    return b.add_collective(comm, c, {b.add_compute(cpu, 20)});
  };
  for (int i = 0; i < kIterations; ++i) {
    for (const bool backward : {false, true}) {
      uint32_t gathered = collective(Kind::AllGather);
      for (int layer = 0; layer < kLayers; ++layer) {
        const uint32_t next = collective(Kind::AllGather);
        b.add_transfer(cpu, gathered, 3000);
        b.add_compute(cpu, 50000);
        if (backward) {
          b.add_transfer(cpu, collective(Kind::ReduceScatter), 4000);
        }
        gathered = next;
      }
      b.add_transfer(cpu, gathered, 3000);
    }
    b.add_transfer(cpu, collective(Kind::AllReduce), 100);
    b.add_compute(cpu, 10000);
    b.next_iteration();
  }
  return std::move(b).finish();
}

graph::Job job_of(uint32_t world_size) {
  std::vector<Rank> all(world_size);
  std::iota(all.begin(), all.end(), 0);
  auto job = graph::instantiate(world_size, {all}, {fsdp(world_size)});
  if (!job.ok()) {
    std::abort();
  }
  return std::move(job).value();
}

/// Runs `call` once per iteration and reports what it costs per node.
template <typename Call>
void measure(benchmark::State& state, double nodes, Call call) {
  size_t peak = 0;
  for (auto _ : state) {
    const size_t before = g_heap;
    g_heap_peak = g_heap;
    call();
    peak = g_heap_peak - before;
  }
  state.counters["nodes"] = nodes;
  state.counters["nodes_per_s"] =
      benchmark::Counter(nodes, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["bytes_per_node"] = static_cast<double>(peak) / nodes;
}

double nodes_of(const graph::Job& job) {
  double nodes = 0;
  for (const graph::Class& c : job.classes) {
    nodes += static_cast<double>(c.program.nodes.size() * c.members.size());
  }
  return nodes;
}

void instantiate_and_check(benchmark::State& state) {
  const auto world_size = static_cast<uint32_t>(state.range(0));
  const double nodes = nodes_of(job_of(world_size));
  measure(state, nodes, [&] {
    if (!graph::check(job_of(world_size)).ok()) {
      std::abort();
    }
  });
}

void replay_job(benchmark::State& state, bool critical_path) {
  const graph::Job job = job_of(static_cast<uint32_t>(state.range(0)));
  replay::ReplayOptions options;
  options.first_iteration = 1;
  options.critical_path = critical_path;
  measure(state, nodes_of(job), [&] {
    auto result = replay::replay(job, options);
    if (!result.ok()) {
      std::abort();
    }
    benchmark::DoNotOptimize(result->end);
  });
}

void replay_times_only(benchmark::State& state) {
  replay_job(state, false);
}
void replay_with_critical_path(benchmark::State& state) {
  replay_job(state, true);
}

/// tp 8, pp 16, 64 micro-batches; the rest of the ranks is data parallel. All of them have jitter.
struct Job3d {
  explicit Job3d(uint32_t world_size) {
    synthetic::Spec spec;
    spec.tp = 8;
    spec.pp = 16;
    spec.dp = world_size / (spec.tp * spec.pp);
    spec.micro_batches = 64;
    spec.layers_per_stage = 2;
    spec.jitter = 0.05;
    auto made = synthetic::make_job(spec);
    if (!made.ok() || !graph::check(*made).ok()) {
      std::abort();
    }
    job = std::move(made).value();
    times = synthetic::make_times(job, spec);
  }
  graph::Job job;
  graph::Times times;
};

void replay_3d(benchmark::State& state, const replay::ReplayOptions& options) {
  const Job3d made(static_cast<uint32_t>(state.range(0)));
  measure(state, nodes_of(made.job), [&] {
    auto result = replay::replay(made.job, made.times, options);
    if (!result.ok()) {
      std::abort();
    }
    benchmark::DoNotOptimize(result->end);
  });
}

void replay_3d_makespan(benchmark::State& state) {
  replay::ReplayOptions options;
  options.analyse = false;
  replay_3d(state, options);
}
void replay_3d_with_waits_and_critical_path(benchmark::State& state) {
  replay_3d(state, {});
}

BENCHMARK(instantiate_and_check)
    ->Arg(64)
    ->Arg(256)
    ->Arg(1024)
    ->Arg(4096)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(replay_times_only)
    ->Arg(64)
    ->Arg(256)
    ->Arg(1024)
    ->Arg(4096)
    ->Arg(8192)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(replay_with_critical_path)
    ->Arg(64)
    ->Arg(256)
    ->Arg(1024)
    ->Arg(4096)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(replay_3d_makespan)
    ->Arg(1024)
    ->Arg(2048)
    ->Arg(4096)
    ->Arg(8192)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(replay_3d_with_waits_and_critical_path)
    ->Arg(1024)
    ->Arg(2048)
    ->Arg(4096)
    ->Arg(8192)
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
