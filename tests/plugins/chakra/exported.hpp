// SPDX-License-Identifier: Apache-2.0
/// Two ranks that were made up, with one of everything, as a replay would hand them out.
#pragma once

#include <memory>
#include <string>

#include "plugins/formats/chakra/export.hpp"
#include "prism/sdk/testing/fake_trace_reader.hpp"
#include "tests/plugins/chakra/trace_bytes.hpp"

namespace prism::chakra::testing {

inline RecordedNode node_of(int32_t kind, uint32_t lane, int64_t start_ns, int64_t end_ns,
                            const std::string& name) {
  RecordedNode node;
  node.c.struct_size = sizeof node.c;
  node.c.kind = kind;
  node.c.lane = lane;
  node.c.start_ns = start_ns;
  node.c.end_ns = end_ns;
  node.c.communicator = PRISM_NO_INDEX;
  node.c.sequence = node.c.root = -1;
  node.c.iteration = 3;
  node.c.micro_batch = node.c.chunk = node.c.layer = -1;
  node.name = name;
  return node;
}

inline prism_trace_part_t part_of(int32_t kind, int32_t peer, int32_t tag, uint64_t bytes) {
  prism_trace_part_t part{};
  part.kind = kind;
  part.peer = peer;
  part.tag = tag;
  part.communicator = 1;
  part.dtype = PRISM_DTYPE_BF16;
  part.bytes = bytes;
  return part;
}

inline RecordedRank rank_of(uint32_t number) {
  const int32_t peer = number == 0 ? 1 : 0;
  const int32_t kind = number == 0 ? PRISM_COMM_SEND : PRISM_COMM_RECV;
  RecordedRank rank;
  rank.rank = number;
  rank.lanes = {{PRISM_LANE_CPU, "cpu:0"},
                {PRISM_LANE_STREAM, "stream:7"},
                {PRISM_LANE_COMM, "comm \"dp\""},
                {PRISM_LANE_STREAM, "empty"}};
  rank.communicators = {{number == 0 ? "dp a" : "dp b", "data parallel", "nccl", {0, 1}},
                        {"p2p", "", "gloo", {1, 0}}};
  // 0: labels. 1: after 0 on its lane only. 2: a collective after 1 and 0. 3, 4: messages. 5: a
  // batch.
  rank.nodes.push_back(node_of(PRISM_NODE_COMPUTE, 0, 0, 1'234, "launch"));
  rank.nodes[0].phase = "forward";
  rank.nodes[0].c.micro_batch = 2;
  rank.nodes[0].c.chunk = 0;
  rank.nodes[0].c.layer = 7;
  rank.nodes.push_back(node_of(PRISM_NODE_COMPUTE, 0, 1'234, 2'999, ""));
  rank.nodes.push_back(node_of(PRISM_COMM_BROADCAST, 2, 4'001, 7'998, "nccl"));
  rank.nodes[2].c.communicator = 0;
  rank.nodes[2].c.sequence = 4;
  rank.nodes[2].c.root = 1;
  rank.nodes[2].c.dtype = PRISM_DTYPE_F16;
  rank.nodes[2].c.reduction = PRISM_REDUCE_NONE;
  rank.nodes[2].c.input_bytes = number == 0 ? 0 : 4096;
  rank.nodes[2].c.output_bytes = 4096;
  rank.nodes[2].dependencies = {1, 0};
  rank.nodes.push_back(node_of(kind, 2, 8'000, 9'500, "message"));
  rank.nodes[3].parts = {part_of(kind, peer == 1 ? 0 : 1, 9, 100'000)};
  rank.nodes[3].dependencies = {2};
  rank.nodes.push_back(node_of(PRISM_NODE_BATCH, 2, 10'000, 12'000, "both ways"));
  rank.nodes[4].parts = {part_of(PRISM_COMM_SEND, peer == 1 ? 0 : 1, 1, 10),
                         part_of(PRISM_COMM_RECV, peer == 1 ? 0 : 1, 1, 10)};
  rank.nodes[4].dependencies = {0};
  rank.nodes.push_back(node_of(PRISM_NODE_COMPUTE, 1, 12'000, 15'000, "gemm"));
  rank.nodes[5].dependencies = {4};
  return rank;
}

class Exported {
 public:
  Exported() {
    reader_.set_arrival(0, 2, 3'000);
    export_traces(sdk::TraceReader(reader_.c()), folder_.path());
  }
  std::string path(uint32_t rank) const {
    return folder_.path() + "/trace." + std::to_string(rank) + ".et";
  }
  const TemporaryFolder& folder() const { return folder_; }

 private:
  TemporaryFolder folder_;
  sdk::testing::FakeTraceReader reader_{{rank_of(0), rank_of(1)}};
};

}  // namespace prism::chakra::testing
