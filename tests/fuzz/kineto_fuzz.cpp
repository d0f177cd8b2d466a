// SPDX-License-Identifier: Apache-2.0
/// libFuzzer target of the importer of traces of PyTorch's profiler: whatever the file, it is
/// refused with words, or what comes to the sink is sound.
#include <cstdlib>
#include <map>

#include "plugins/formats/kineto/import.hpp"
#include "prism/sdk/testing/trace_record.hpp"
#include "tests/fuzz/input_file.hpp"

namespace {

void check(const prism::sdk::testing::TraceRecord::Rank& rank) {
  std::map<uint32_t, int64_t> end;  // by lane
  for (const auto& node : rank.nodes) {
    const auto last = end.try_emplace(node.c.lane, INT64_MIN).first;
    if (node.c.start_ns < last->second || node.c.end_ns < node.c.start_ns) {
      std::abort();
    }
    last->second = node.c.end_ns;
    for (const uint32_t dependency : node.dependencies) {
      if (rank.nodes[dependency].c.end_ns > node.c.start_ns) {
        std::abort();
      }
    }
    if (node.c.communicator != PRISM_NO_INDEX && node.c.communicator >= rank.communicators.size()) {
      std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string& path = prism::fuzz::input_file(data, size);
  prism::sdk::testing::TraceRecord record;
  prism::sdk::TraceSink sink(record.c());
  try {
    const prism::sdk::TraceInput input{path, 1};
    prism::kineto::import_traces({&input, 1}, prism::kineto::Clock::Auto, sink);
  } catch (const prism::sdk::Error& error) {
    if (error.what()[0] == '\0') {
      std::abort();
    }
    return 0;
  }
  for (const auto& rank : record.ranks) {
    check(rank);
  }
  return 0;
}
