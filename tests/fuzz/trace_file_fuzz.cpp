// SPDX-License-Identifier: Apache-2.0
/// libFuzzer target of the reader of .prism files: whatever the file, it is refused with words, or
/// what it gives can be used. Each input is read as it is and with its checksums put right.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "core/calibrate/observation_file.hpp"
#include "core/graph/check.hpp"
#include "core/graph/trace_file.hpp"
#include "tests/fuzz/input_file.hpp"
#include "tests/trace_file/reseal.hpp"

namespace {

using namespace prism;

void must_say(const Status& status) {
  if (!status.ok() && status.message().empty()) {
    std::abort();
  }
}

/// Looks at all times of all ranks, as a replay does. Not of large jobs: that is no work of the
/// reader.
void use(const graph::IterationKind& kind) {
  uint64_t nodes = 0;
  for (const graph::Class& c : kind.job.classes) {
    nodes += c.program.nodes.size() * c.members.size();
  }
  if (nodes * kind.job.world_size > 1'000'000) {
    return;
  }
  must_say(graph::check(kind.job));
  DurationNs longest = 0;
  for (const graph::Sample& sample : kind.samples) {
    for (Rank rank = 0; rank < kind.job.world_size; ++rank) {
      const graph::TimesOfRank times(kind.job, sample.times, rank);
      for (uint32_t node = 0; node < kind.job.program(rank).nodes.size(); ++node) {
        longest = std::max({longest, times.own_time(node), times.gap(node)});
      }
    }
  }
  static_cast<void>(longest);
}

void read_whole(const std::string& path) {
  const auto trace = graph::read_trace(path);
  must_say(trace.status());
  if (trace.ok()) {
    for (const graph::IterationKind& kind : trace->kinds) {
      use(kind);
    }
  }
  const auto observation = calibrate::read_observation(path);
  must_say(observation.status());
  if (observation.ok()) {
    const calibrate::Iterations iterations(*observation);
    if (!iterations.numbers().empty()) {
      static_cast<void>(iterations.cut(iterations.numbers().front()));
    }
  }
}

void read_pieces(const std::string& path) {
  auto file = graph::TraceFile::open(path);
  must_say(file.status());
  if (!file.ok()) {
    return;
  }
  for (uint32_t kind = 0; kind < std::min(file->kind_count(), 2U); ++kind) {
    for (Rank rank = 0; rank < 2; ++rank) {
      must_say(file->program(kind, rank).status());
      must_say(file->rank_times(kind, 0, rank).status());
    }
  }
}

void read(const std::string& bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): characters as bytes
  const auto* const data = reinterpret_cast<const uint8_t*>(bytes.data());
  const std::string& path = fuzz::input_file(data, bytes.size());
  read_whole(path);
  read_pieces(path);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as characters
  std::string bytes(reinterpret_cast<const char*>(data), size);
  read(bytes);
  prism::trace_file::reseal(bytes);
  read(bytes);
  return 0;
}
