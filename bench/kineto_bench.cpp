// SPDX-License-Identifier: Apache-2.0
/// What importing a trace of PyTorch's profiler costs on one core, up to a sink that counts: bytes
/// of JSON per second of CPU time, nodes, the process's memory at its peak.
///
/// The input is a temporary file, made by repeating the events of PRISM_BENCH_TRACE (a real trace,
/// .json or .gz; default: one made up here), each time later and with other correlations, until it
/// has PRISM_BENCH_MB megabytes (default 64).
#include <benchmark/benchmark.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>
#include <zlib.h>

#include "bench/counting_sink.hpp"

#include "plugins/formats/kineto/decimal.hpp"
#include "plugins/formats/kineto/import.hpp"
#include "plugins/formats/kineto/scanner.hpp"

namespace {

namespace kineto = prism::kineto;

struct Template {
  std::string head;  ///< up to the first event
  std::vector<std::string> events;
};

Template made_up() {
  Template made;
  made.head = R"({"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 2},)"
              "\n\"traceEvents\": [\n";
  for (int i = 0; i < 200; ++i) {
    const std::string number = std::to_string(i + 1);
    const auto at = [&](int ns) {
      return std::to_string(5114332813371 + 50 * i) + "." + std::to_string(100 + ns);
    };
    const std::string thread = R"("pid": 469, "tid": 469, "ts": )";
    for (const char* name : {"aten::linear", "aten::matmul", "aten::mm"}) {
      made.events.push_back(R"({"ph": "X", "cat": "cpu_op", "name": ")" + std::string(name) +
                            "\", " + thread + at(0) + R"(, "dur": 30.5, "args": {"External id": )" +
                            number + R"(, "Record function id": 0, "Concrete Inputs": ["", ""], )" +
                            R"("Input type": ["c10::BFloat16", "c10::BFloat16"], )" +
                            R"("Input Strides": [[512, 1], [1, 512]], )" +
                            R"("Input Dims": [[512, 512], [512, 512]], "Ev Idx": 18451}})");
    }
    made.events.push_back(R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", )" +
                          thread + at(5) + R"(, "dur": 6.25, "args": {"External id": )" + number +
                          R"(, "cbid": 211, "correlation": )" + number + "}}");
    made.events.push_back(
        R"({"ph": "X", "cat": "kernel", "name": "void at::native::vectorized_elementwise_kernel)"
        R"(<4, at::native::FillFunctor<float>, std::array<char*, 1ul> >", "pid": 0, )"
        R"("tid": 7, "ts": )" +
        at(800) + R"(, "dur": 40.125, "args": {"External id": )" + number +
        R"(, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": )" + number +
        R"(, "registers per thread": 16, "shared memory": 0, "blocks per SM": 0.071429, )"
        R"("warps per SM": 0.285714, "grid": [1, 1, 1], "block": [128, 1, 1]}})");
  }
  return made;
}

Template of_file(const std::string& path) {
  Template made;
  const auto source = kineto::open_source(path);
  kineto::Scanner scanner(*source);
  kineto::Scanner::Item item;
  made.head = "{";
  while (scanner.next(item)) {
    if (item.key.empty()) {
      made.events.emplace_back(item.text);
    } else {
      made.head += "\"" + std::string(item.key) + "\": " + std::string(item.text) + ",\n";
    }
  }
  made.head += "\"traceEvents\": [\n";
  return made;
}

/// The number behind `key` in an event, and where it stands.
bool find_number(std::string_view event, std::string_view key, size_t& at, size_t& size) {
  at = event.find(key);
  if (at == std::string_view::npos) {
    return false;
  }
  at += key.size();
  size = event.find_first_not_of("0123456789.", at) - at;
  return size > 0;
}

int64_t time_of(std::string_view event) {
  size_t at = 0;
  size_t size = 0;
  return find_number(event, "\"ts\": ", at, size)
             ? kineto::nanoseconds(event.substr(at, size)).value_or(0)
             : 0;
}

std::string repeated(const std::string& event, int64_t later_us, int64_t more) {
  std::string result = event;
  size_t at = 0;
  size_t size = 0;
  if (find_number(result, "\"ts\": ", at, size)) {
    const size_t whole = std::min(result.find('.', at), at + size) - at;
    result.replace(at, whole, std::to_string(std::stoll(result.substr(at, whole)) + later_us));
  }
  if (find_number(result, "\"correlation\": ", at, size)) {
    result.replace(at, size, std::to_string(std::stoll(result.substr(at, size)) + more));
  }
  return result;
}

/// The input, plain and compressed; removed at the end.
class Input {
 public:
  Input() {
    const char* megabytes = std::getenv("PRISM_BENCH_MB");
    const char* trace = std::getenv("PRISM_BENCH_TRACE");
    const Template made = trace == nullptr ? made_up() : of_file(trace);
    wanted_ = static_cast<uint64_t>(megabytes == nullptr ? 64 : std::atoll(megabytes)) * 1'000'000;
    path_ = (std::filesystem::temp_directory_path() /
             ("kineto_bench_" + std::to_string(::getpid()) + ".json"))
                .string();
    write(made);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  ~Input() {
    std::remove(path_.c_str());
    std::remove(gzip_path().c_str());
  }

  uint64_t bytes() const { return bytes_; }
  const std::string& path() const { return path_; }
  std::string gzip_path() const { return path_ + ".gz"; }
  void compress() const {
    std::ifstream from(path_, std::ios::binary);
    gzFile to = ::gzopen(gzip_path().c_str(), "wb6");
    std::vector<char> piece(1 << 20);
    while (from.read(piece.data(), static_cast<std::streamsize>(piece.size())), from.gcount() > 0) {
      ::gzwrite(to, piece.data(), static_cast<unsigned>(from.gcount()));
    }
    ::gzclose(to);
  }

 private:
  void write(const Template& made) {
    int64_t first = INT64_MAX;
    int64_t last = 0;
    for (const std::string& event : made.events) {
      const int64_t at = time_of(event);
      first = at > 0 ? std::min(first, at) : first;
      last = std::max(last, at);
    }
    const int64_t period_us = (last - first) / 1000 + 1'000'000;
    std::ofstream file(path_, std::ios::binary);
    file << made.head;
    for (int64_t round = 0; bytes_ < wanted_; ++round) {
      for (const std::string& event : made.events) {
        const std::string text =
            (bytes_ == 0 ? "" : ",\n") + repeated(event, round * period_us, round * 200'000);
        file << text;
        bytes_ += text.size();
      }
    }
    file << "]}\n";
  }

  std::string path_;
  uint64_t wanted_ = 0;
  uint64_t bytes_ = 0;
};

Input& input() {
  static Input made;
  return made;
}

void import(benchmark::State& state, const std::string& path) {
  std::ofstream("/proc/self/clear_refs") << 5;  // the peak begins anew
  uint64_t nodes = 0;
  for (auto _ : state) {
    prism::bench::CountingSink counting;
    const prism_trace_sink_t c = counting.c();
    prism::sdk::TraceSink sink(c);
    const std::vector<prism::sdk::TraceInput> inputs = {{path, 0}};
    kineto::import_traces(inputs, kineto::Clock::Own, sink);
    nodes = counting.nodes;
  }
  state.SetBytesProcessed(static_cast<int64_t>(input().bytes()) * state.iterations());
  state.counters["nodes"] = static_cast<double>(nodes);
  state.counters["input_MB"] = static_cast<double>(input().bytes()) / 1e6;
  state.counters["peak_MB"] = static_cast<double>(prism::bench::memory("VmHWM:")) / 1e6;
}

void plain(benchmark::State& state) {
  import(state, input().path());
}

void gzip(benchmark::State& state) {
  input().compress();
  import(state, input().gzip_path());
}

BENCHMARK(plain)->Unit(benchmark::kMillisecond);
BENCHMARK(gzip)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
