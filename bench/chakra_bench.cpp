// SPDX-License-Identifier: Apache-2.0
/// What Chakra traces cost on one core: the import of one that Prism wrote, and of one of other
/// tools, up to a sink that counts, and the export; bytes per second of CPU time, nodes, the
/// process's memory at its peak.
///
/// The job is made up, of PRISM_BENCH_NODES nodes (default 1,000,000) on a CPU lane, two streams
/// and a lane of collectives.
#include <benchmark/benchmark.h>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>

#include "bench/counting_sink.hpp"

#include "plugins/formats/chakra/export.hpp"
#include "plugins/formats/chakra/import.hpp"

namespace {

namespace chakra = prism::chakra;

constexpr uint32_t kRank = 0;
constexpr uint32_t kRanks[] = {kRank};
constexpr uint64_t kLanes = 4;

/// Every fourth node is a call, a kernel of each stream, and a collective that needs the kernels.
struct MadeUpJob {
  uint64_t nodes = 0;
  mutable uint32_t dependencies[2] = {};

  prism_trace_reader_t c() {
    return {sizeof(prism_trace_reader_t),
            1,
            this,
            1,
            &rank,
            &lane_count,
            &lane,
            &one_group,
            &communicator,
            &node_count,
            &node};
  }
  static const MadeUpJob& self(void* ctx) { return *static_cast<MadeUpJob*>(ctx); }
  static uint32_t rank(void* /*ctx*/, uint64_t /*index*/) noexcept { return kRank; }
  static uint64_t lane_count(void* /*ctx*/, uint32_t /*rank*/) noexcept { return kLanes; }
  static void lane(void* /*ctx*/, uint32_t /*rank*/, uint64_t index, int32_t* kind,
                   prism_str_t* name) noexcept {
    constexpr int32_t kKinds[] = {PRISM_LANE_CPU, PRISM_LANE_STREAM, PRISM_LANE_STREAM,
                                  PRISM_LANE_COMM};
    *kind = kKinds[index];
    *name = prism::sdk::to_c("lane");
  }
  static uint64_t one_group(void* /*ctx*/, uint32_t /*rank*/) noexcept { return 1; }
  static void communicator(void* /*ctx*/, uint32_t /*rank*/, uint64_t /*index*/,
                           prism_trace_communicator_t* c) noexcept {
    c->name = prism::sdk::to_c("group");
    c->backend = prism::sdk::to_c("nccl");
    c->ranks = kRanks;
    c->rank_count = 1;
  }
  static uint64_t node_count(void* ctx, uint32_t /*rank*/) noexcept { return self(ctx).nodes; }
  static void node(void* ctx, uint32_t /*rank*/, uint64_t index, prism_trace_node_t* c,
                   int64_t* arrival_ns) noexcept {
    const MadeUpJob& job = self(ctx);
    const auto lane = static_cast<uint32_t>(index % kLanes);
    const auto number = static_cast<uint32_t>(index);
    c->lane = lane;
    c->start_ns = *arrival_ns = static_cast<int64_t>(index) * 5'000;
    c->end_ns = c->start_ns + 4'321;
    c->communicator = PRISM_NO_INDEX;
    c->sequence = c->root = -1;
    c->micro_batch = static_cast<int32_t>(index / 1000 % 8);
    c->chunk = c->layer = -1;
    c->name = prism::sdk::to_c("void at::native::vectorized_elementwise_kernel<4>");
    c->phase = prism::sdk::to_c("forward");
    job.dependencies[0] = number - (lane == 3 ? 2 : 1);
    job.dependencies[1] = number - 1;
    c->dependencies = job.dependencies;
    c->dependency_count = lane == 0 ? 0 : lane == 3 ? 2 : 1;
    if (lane == 3) {
      c->kind = PRISM_COMM_ALL_REDUCE;
      c->communicator = 0;
      c->sequence = static_cast<int64_t>(index / kLanes);
      c->input_bytes = c->output_bytes = 1 << 20;
    }
  }
};

/// The job as a file of Prism, and the same without what others do not have.
class Files {
 public:
  Files() {
    const char* nodes = std::getenv("PRISM_BENCH_NODES");
    job_.nodes = nodes == nullptr ? 1'000'000 : static_cast<uint64_t>(std::atoll(nodes));
    std::filesystem::create_directories(folder_);
    write();
    std::ifstream file(own(), std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    for (size_t at = bytes.find("prism."); at != bytes.npos; at = bytes.find("prism.", at)) {
      bytes.replace(at, 6, "other.");  // attributes that nobody knows
    }
    std::ofstream(foreign(), std::ios::binary) << bytes;
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  ~Files() { std::filesystem::remove_all(folder_); }

  std::string own() const { return folder_ + "/trace.0.et"; }
  std::string foreign() const { return folder_ + "/other.0.et"; }
  void write() {
    const prism_trace_reader_t reader = job_.c();
    chakra::export_traces(prism::sdk::TraceReader(reader), folder_);
  }

 private:
  const std::string folder_ =
      (std::filesystem::temp_directory_path() / ("chakra_bench_" + std::to_string(::getpid())))
          .string();
  MadeUpJob job_;
};

Files& files() {
  static Files made;
  return made;
}

void import(benchmark::State& state, const std::string& path) {
  std::ofstream("/proc/self/clear_refs") << 5;  // the peak begins anew
  uint64_t nodes = 0;
  for (auto _ : state) {
    prism::bench::CountingSink counting;
    const prism_trace_sink_t c = counting.c();
    prism::sdk::TraceSink sink(c);
    const prism::sdk::TraceInput trace{path, std::nullopt};
    chakra::import_traces({&trace, 1}, {}, sink);
    nodes = counting.nodes;
  }
  const auto read = static_cast<int64_t>(std::filesystem::file_size(path));
  state.SetBytesProcessed(state.iterations() * read);
  state.counters["nodes"] = static_cast<double>(nodes);
  state.counters["input_MB"] = static_cast<double>(read) / 1e6;
  state.counters["peak_MB"] = static_cast<double>(prism::bench::memory("VmHWM:")) / 1e6;
}

void import_own(benchmark::State& state) {
  import(state, files().own());
}

void import_foreign(benchmark::State& state) {
  import(state, files().foreign());
}

void export_job(benchmark::State& state) {
  for (auto _ : state) {
    files().write();
  }
  state.SetBytesProcessed(state.iterations() *
                          static_cast<int64_t>(std::filesystem::file_size(files().own())));
}

BENCHMARK(import_own)->Unit(benchmark::kMillisecond);
BENCHMARK(import_foreign)->Unit(benchmark::kMillisecond);
BENCHMARK(export_job)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
