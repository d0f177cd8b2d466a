// SPDX-License-Identifier: Apache-2.0
/// libFuzzer target of the importer of Chakra traces: whatever the file, it is refused with words,
/// or what comes to the sink is sound. The file is that of two ranks, so that they have peers.
#include <cstdlib>
#include <map>

#include "plugins/formats/chakra/import.hpp"
#include "plugins/formats/chakra/read.hpp"
#include "prism/sdk/testing/trace_record.hpp"
#include "tests/fuzz/input_file.hpp"

namespace {

void expect(bool holds) {
  if (!holds) {
    std::abort();
  }
}

void check(const prism::sdk::testing::TraceRecord::Rank& rank) {
  std::map<uint32_t, int64_t> end;  // by lane
  for (const auto& node : rank.nodes) {
    const auto last = end.try_emplace(node.c.lane, INT64_MIN).first;
    expect(node.c.start_ns >= last->second && node.c.end_ns >= node.c.start_ns);
    last->second = node.c.end_ns;
    expect(node.c.communicator == PRISM_NO_INDEX ||
           node.c.communicator < rank.communicators.size());
    const bool message = node.c.kind == PRISM_COMM_SEND || node.c.kind == PRISM_COMM_RECV;
    expect(node.parts.empty() || message || node.c.kind == PRISM_NODE_BATCH);
    expect(!message || node.parts.size() == 1);
    for (const prism_trace_part_t& part : node.parts) {
      expect(part.communicator < rank.communicators.size());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string& path = prism::fuzz::input_file(data, size);
  prism::chakra::begins_as_trace(path);
  prism::sdk::testing::TraceRecord record;
  prism::sdk::TraceSink sink(record.c());
  try {
    const prism::sdk::TraceInput inputs[] = {{path, 0}, {path, 1}};
    prism::chakra::import_traces(inputs, {}, sink);
  } catch (const prism::sdk::Error& error) {
    expect(error.what()[0] != '\0');
    return 0;
  }
  for (const auto& rank : record.ranks) {
    check(rank);
  }
  return 0;
}
