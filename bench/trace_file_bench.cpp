// SPDX-License-Identifier: Apache-2.0
/// Size and speed of the file of a PrismTrace: a job of 8,192 ranks in 16 classes (pipeline
/// stages), 20 million nodes. "own": each rank has durations and gaps of its own, 20 to 800 us with
/// 2 to 5 % of jitter, gaps of 1 to 20 us with 20 %; "shared": the ranks of a class share theirs.
/// Counters: nodes_per_s (nodes x ranks), bytes_per_node (of the file, over nodes x ranks), MB.
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <numeric>
#include <random>
#include <string>
#include <unistd.h>
#include <utility>

#include "core/graph/builder.hpp"
#include "core/graph/trace_file.hpp"

namespace {

using namespace prism;
using graph::Builder;
using graph::Collective;
using graph::Kind;
using graph::LaneKind;
using graph::Part;

constexpr uint32_t kStages = 16;
constexpr uint32_t kReplicas = 512;
constexpr uint32_t kWorld = kStages * kReplicas;
constexpr int kMicroBatches = 24;
constexpr int kLayers = 8;

template <typename T>
T must(Result<T> result) {
  if (!result.ok()) {
    std::cerr << result.status().to_string() << '\n';
    std::abort();
  }
  return std::move(result).value();
}

/// Rank of replica r in stage s.
Rank rank_of(uint32_t stage, uint32_t replica) {
  return stage * kReplicas + replica;
}

/// The first replica of a stage: per micro-batch a message from the stage before, layers of
/// launches, kernels and all-reduces of a tensor group of 8, a message to the stage behind; the
/// reverse backward; a reduce-scatter over the replicas at the end.
graph::Program stage_program(uint32_t stage) {
  Builder b(rank_of(stage, 0), kWorld);
  std::vector<Rank> pipeline(kStages);
  for (uint32_t s = 0; s < kStages; ++s) {
    pipeline[s] = rank_of(s, 0);
  }
  std::vector<Rank> tensor(8);
  std::iota(tensor.begin(), tensor.end(), rank_of(stage, 0));
  std::vector<Rank> data(kReplicas);
  std::iota(data.begin(), data.end(), rank_of(stage, 0));
  const uint32_t pp = b.add_communicator({"pp", "PIPELINE", "nccl", pipeline});
  const uint32_t tp = b.add_communicator({"tp", "TENSOR", "nccl", tensor});
  const uint32_t dp = b.add_communicator({"dp", "DATA", "nccl", data});
  const uint32_t cpu = b.add_lane(LaneKind::Cpu, "cpu:0");
  const uint32_t stream = b.add_lane(LaneKind::Stream, "stream:7");
  const uint32_t comm = b.add_lane(LaneKind::Comm, "comm:tp");
  const uint32_t link = b.add_lane(LaneKind::Comm, "comm:pp");
  uint32_t last = b.add_compute(cpu, 1);
  const auto message = [&](Kind kind, uint32_t other) {
    Part part{kind, static_cast<int32_t>(other), 0, pp, 64U << 20U, PRISM_DTYPE_BF16, 0};
    last = b.add_message(link, part, {b.add_compute(cpu, 0), last});
  };
  for (const bool backward : {false, true}) {
    for (int m = 0; m < kMicroBatches; ++m) {
      const uint32_t from = backward ? stage + 1 : stage - 1;
      const uint32_t to = backward ? stage - 1 : stage + 1;
      if (from < kStages) {
        message(Kind::Recv, from);
      }
      for (int layer = 0; layer < kLayers; ++layer) {
        last = b.add_compute(stream, 0, {b.add_compute(cpu, 0), last});
        Collective reduce{Kind::AllReduce, tp, PRISM_DTYPE_BF16, PRISM_REDUCE_SUM};
        reduce.input_bytes = reduce.output_bytes = 32U << 20U;
        last = b.add_collective(comm, reduce, {b.add_compute(cpu, 0), last});
        last = b.add_compute(stream, 0, {last});
        last = b.add_compute(cpu, 0);
      }
      if (to < kStages) {
        message(Kind::Send, to);
      }
    }
  }
  Collective gradients{Kind::ReduceScatter, dp, PRISM_DTYPE_F32, PRISM_REDUCE_SUM};
  gradients.input_bytes = 1U << 30U;
  gradients.output_bytes = gradients.input_bytes / kReplicas;
  b.add_collective(comm, gradients, {last});
  b.next_iteration();
  return std::move(b).finish();
}

/// What a node takes on average, and how much that varies between ranks.
struct Typical {
  double duration;
  double gap;
  double jitter;
};

graph::RankTimes jittered(const graph::Program& program, const std::vector<Typical>& typical,
                          std::mt19937_64& random) {
  graph::RankTimes times{graph::Column(program.nodes.size()), graph::Column(program.nodes.size()),
                         graph::Column(program.parts.size())};
  std::normal_distribution<double> normal;
  for (size_t i = 0; i < typical.size(); ++i) {
    const double duration = typical[i].duration * (1 + typical[i].jitter * normal(random));
    const double gap = typical[i].gap * (1 + 0.2 * normal(random));
    times.durations.set(i, graph::has_parts(program.nodes[i].kind)
                               ? 0
                               : static_cast<DurationNs>(std::max(duration, 0.0)));
    times.gaps.set(i, static_cast<DurationNs>(std::max(gap, 0.0)));
  }
  for (size_t p = 0; p < program.parts.size(); ++p) {
    times.parts.set(p, static_cast<DurationNs>(300'000 * (1 + 0.03 * normal(random))));
  }
  return times;
}

graph::Trace make_trace(bool own) {
  std::vector<std::vector<Rank>> classes(kStages);
  std::vector<graph::Program> programs;
  programs.reserve(kStages);
  for (uint32_t s = 0; s < kStages; ++s) {
    for (uint32_t r = 0; r < kReplicas; ++r) {
      classes[s].push_back(rank_of(s, r));
    }
    programs.push_back(stage_program(s));
  }
  graph::Trace trace;
  trace.origin = "made by a benchmark";
  graph::IterationKind& kind = trace.kinds.emplace_back();
  kind.job = must(graph::instantiate(kWorld, classes, std::move(programs)));
  graph::Times& times = kind.samples.emplace_back().times;
  times.set_of.resize(kWorld);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit;
  for (uint32_t s = 0; s < kStages; ++s) {
    const graph::Program& program = kind.job.classes[s].program;
    std::vector<Typical> typical(program.nodes.size());
    for (Typical& node : typical) {
      node = {20'000 + 780'000 * unit(random), 1'000 + 19'000 * unit(random),
              0.02 + 0.03 * unit(random)};
    }
    for (uint32_t r = 0; r < kReplicas; ++r) {
      if (own || r == 0) {
        times.sets.push_back(jittered(program, typical, random));
      }
      times.set_of[rank_of(s, r)] = static_cast<uint32_t>(times.sets.size() - 1);
    }
  }
  trace.times_from.resize(kWorld);
  std::iota(trace.times_from.begin(), trace.times_from.end(), 0);
  return trace;
}

const graph::Trace& trace_of(bool own) {
  static const graph::Trace kEach = make_trace(true);
  static const graph::Trace kShared = make_trace(false);
  return own ? kEach : kShared;
}

double nodes_of(const graph::Trace& trace) {
  double nodes = 0;
  for (const graph::Class& c : trace.kinds[0].job.classes) {
    nodes += static_cast<double>(c.program.nodes.size() * c.members.size());
  }
  return nodes;
}

/// The file, in a folder of its own; removed with the process's end.
const std::string& path_of(bool own) {
  static const struct Folder {
    Folder() { std::filesystem::create_directory(path); }
    ~Folder() { std::filesystem::remove_all(path); }
    std::filesystem::path path = std::filesystem::temp_directory_path() /
                                 ("prism-trace-bench-" + std::to_string(::getpid()));
  } folder;
  static const std::string kEach = (folder.path / "own.prism").string();
  static const std::string kShared = (folder.path / "shared.prism").string();
  const std::string& path = own ? kEach : kShared;
  if (!std::filesystem::exists(path) && !graph::write_trace(path, trace_of(own)).ok()) {
    std::abort();
  }
  return path;
}

void report(benchmark::State& state, bool own) {
  const double nodes = nodes_of(trace_of(own));
  const auto size = static_cast<double>(std::filesystem::file_size(path_of(own)));
  state.counters["nodes"] = nodes;
  state.counters["nodes_per_s"] =
      benchmark::Counter(nodes, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["bytes_per_node"] = size / nodes;
  state.counters["MB"] = size / 1e6;
}

void write_file(benchmark::State& state, bool own) {
  const std::string& path = path_of(own);
  for (auto _ : state) {
    if (!graph::write_trace(path, trace_of(own)).ok()) {
      std::abort();
    }
  }
  report(state, own);
}

void load_file(benchmark::State& state, bool own) {
  const std::string& path = path_of(own);
  for (auto _ : state) {
    benchmark::DoNotOptimize(must(graph::read_trace(path)));
  }
  report(state, own);
}

void load_one_rank(benchmark::State& state) {
  const std::string& path = path_of(true);
  uint64_t bytes = 0;
  for (auto _ : state) {
    graph::TraceFile file = must(graph::TraceFile::open(path));
    benchmark::DoNotOptimize(must(file.program(0, 5000)));
    benchmark::DoNotOptimize(must(file.rank_times(0, 0, 5000)));
    bytes = file.bytes_read();
  }
  state.counters["KB_read"] = static_cast<double>(bytes) / 1e3;
}

BENCHMARK_CAPTURE(write_file, own, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(write_file, shared, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(load_file, own, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(load_file, shared, false)->Unit(benchmark::kMillisecond);
BENCHMARK(load_one_rank)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
