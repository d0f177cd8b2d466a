// SPDX-License-Identifier: Apache-2.0
#include "sdk/conformance/format_timelines.hpp"

#include <utility>

namespace prism::conformance {
namespace {

using sdk::testing::TraceRecord;
using Node = TraceRecord::Node;
using Rank = TraceRecord::Rank;

constexpr uint32_t kCompute = 0;  // lanes
constexpr uint32_t kComm = 1;
constexpr int64_t kUs = 1000;

Node node_of(int32_t kind, uint32_t lane, int64_t start_ns, int64_t end_ns, std::string name) {
  Node node;
  node.c.struct_size = sizeof node.c;
  node.c.kind = kind;
  node.c.lane = lane;
  node.c.start_ns = start_ns;
  node.c.end_ns = end_ns;
  node.c.communicator = PRISM_NO_INDEX;
  node.c.sequence = node.c.root = node.c.micro_batch = node.c.chunk = node.c.layer = -1;
  node.name = std::move(name);
  return node;
}

Node collective(int32_t kind, int64_t sequence, int64_t start_ns, int64_t end_ns) {
  Node node = node_of(kind, kComm, start_ns, end_ns, "reduce the gradients");
  node.c.communicator = 0;
  node.c.sequence = sequence;
  node.c.dtype = PRISM_DTYPE_BF16;
  node.c.reduction = PRISM_REDUCE_SUM;
  node.c.input_bytes = node.c.output_bytes = 4096;
  return node;
}

prism_trace_part_t part_of(int32_t kind, int32_t peer, int64_t start_ns, int64_t end_ns) {
  prism_trace_part_t part{};
  part.kind = kind;
  part.peer = peer;
  part.dtype = PRISM_DTYPE_F32;
  part.bytes = 512;
  part.start_ns = start_ns;
  part.end_ns = end_ns;
  return part;
}

Rank rank_of(uint32_t number) {
  Rank rank;
  rank.rank = number;
  rank.lanes = {{PRISM_LANE_STREAM, "stream:7"}, {PRISM_LANE_COMM, "comm:dp"}};
  rank.communicators = {{"dp", "data parallel", "nccl", {0, 1}}};
  return rank;
}

Rank plain_rank(uint32_t number) {
  const int64_t late = number == 0 ? 0 : 2 * kUs;
  Rank rank = rank_of(number);
  rank.nodes.push_back(node_of(PRISM_NODE_COMPUTE, kCompute, 0, 3 * kUs + late, "gemm"));
  rank.nodes.back().phase = "forward";
  rank.nodes.back().c.layer = 1;
  rank.nodes.push_back(collective(PRISM_COMM_ALL_REDUCE, 0, 5 * kUs, 6 * kUs + 1));
  rank.nodes.back().dependencies = {0};
  const int32_t message = number == 0 ? PRISM_COMM_SEND : PRISM_COMM_RECV;
  const int32_t peer = number == 0 ? 1 : 0;
  rank.nodes.push_back(node_of(message, kComm, 7 * kUs, 8 * kUs, "activations"));
  rank.nodes.back().parts = {part_of(message, peer, 7 * kUs, 8 * kUs)};
  rank.nodes.back().c.micro_batch = 2;
  rank.nodes.back().dependencies = {0, 1};
  rank.nodes.push_back(node_of(PRISM_NODE_COMPUTE, kCompute, 8 * kUs, 9 * kUs, "gemm"));
  rank.nodes.back().dependencies = {2};
  return rank;
}

/// Both send and receive at a time, and one message may come from anybody.
Rank rank_of_batches(uint32_t number) {
  const int32_t peer = number == 0 ? 1 : 0;
  Rank rank = rank_of(number);
  for (const int64_t start : {int64_t{0}, 2 * kUs}) {
    rank.nodes.push_back(node_of(PRISM_NODE_BATCH, kComm, start, start + kUs, "exchange"));
    rank.nodes.back().parts = {
        part_of(PRISM_COMM_SEND, peer, start, start + kUs),
        part_of(PRISM_COMM_RECV, start == 0 ? peer : PRISM_ANY_SOURCE, start, start + kUs)};
  }
  return rank;
}

/// Every kind of collective, none of which takes time on this rank.
Rank rank_of_collectives(uint32_t number) {
  Rank rank = rank_of(number);
  int64_t sequence = 0;
  for (int32_t kind = PRISM_COMM_ALL_REDUCE; kind <= PRISM_COMM_GATHER; ++kind) {
    rank.nodes.push_back(collective(kind, sequence, sequence * kUs, sequence * kUs));
    rank.nodes.back().c.root = 1;
    ++sequence;
  }
  return rank;
}

}  // namespace

Timeline plain_timeline() {
  return {"a timeline of two ranks", {plain_rank(0), plain_rank(1)}};
}

std::vector<Timeline> timelines() {
  Rank empty;
  empty.rank = 1;
  Rank idle = rank_of(1);
  Rank alone = one_node("gemm", kUs).ranks.front();
  Rank late = one_node("gemm", kUs).ranks.front();
  late.rank = 7;
  Rank nameless = plain_rank(0);
  for (Node& node : nameless.nodes) {
    node.name.clear();
    node.phase.clear();
  }
  nameless.lanes[kCompute].name.clear();
  nameless.communicators[0] = {"", "", "", {0, 1}};
  return {plain_timeline(),
          {"a timeline with a rank that has no lanes, communicators and nodes", {alone, empty}},
          {"a timeline with a rank that has no nodes", {alone, idle}},
          {"a timeline without communicators", {alone}},
          {"a timeline of the ranks 0 and 7", {alone, late}},
          {"a timeline without names", {nameless, plain_rank(1)}},
          {"a timeline of messages in batches", {rank_of_batches(0), rank_of_batches(1)}},
          {"a timeline of all collectives", {rank_of_collectives(0), rank_of_collectives(1)}}};
}

Timeline one_node(const std::string& name, int64_t duration_ns) {
  Rank rank;
  rank.lanes = {{PRISM_LANE_STREAM, "stream:7"}};
  rank.nodes.push_back(node_of(PRISM_NODE_COMPUTE, 0, 0, duration_ns, name));
  return {"a timeline of one node", {rank}};
}

}  // namespace prism::conformance
