// SPDX-License-Identifier: Apache-2.0
/// A trace reader over ranks that a test made up, or that a TraceRecord kept, for unit tests of
/// exporters.
///
///   TraceRecord::Rank rank;
///   rank.lanes = {{PRISM_LANE_STREAM, "compute"}};
///   rank.nodes = {...};
///   prism::sdk::testing::FakeTraceReader reader({rank});
///   reader.set_arrival(0, 3, 1'000);  // node 3 of rank 0 waited from then to its start
///   MyFormat(values).export_trace(prism::sdk::TraceReader(reader.c()), path);
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "prism/abi/draft/format.h"
#include "prism/sdk/testing/trace_record.hpp"
#include "prism/sdk/text.hpp"

namespace prism::sdk::testing {

class FakeTraceReader {
 public:
  /// Ascending ranks; the world ends with the last.
  explicit FakeTraceReader(std::vector<TraceRecord::Rank> ranks) : ranks_(std::move(ranks)) {
    reader_.rank_count = ranks_.size();
    reader_.world_size = ranks_.empty() ? 0 : ranks_.back().rank + 1;
  }
  FakeTraceReader(const FakeTraceReader&) = delete;
  FakeTraceReader& operator=(const FakeTraceReader&) = delete;

  const prism_trace_reader_t& c() const { return reader_; }

  /// Nodes arrive when they start, unless told otherwise.
  void set_arrival(uint32_t rank, uint64_t node, int64_t arrival_ns) {
    arrivals_[{rank, node}] = arrival_ns;
  }

 private:
  static const FakeTraceReader& self(void* ctx) { return *static_cast<FakeTraceReader*>(ctx); }
  const TraceRecord::Rank& of(uint32_t rank) const {
    size_t i = 0;
    while (ranks_.at(i).rank != rank) {
      ++i;
    }
    return ranks_[i];
  }

  static uint32_t rank(void* ctx, uint64_t index) noexcept {
    return self(ctx).ranks_.at(static_cast<size_t>(index)).rank;
  }
  static uint64_t lane_count(void* ctx, uint32_t rank) noexcept {
    return self(ctx).of(rank).lanes.size();
  }
  static void lane(void* ctx, uint32_t rank, uint64_t index, int32_t* kind,
                   prism_str_t* name) noexcept {
    const TraceRecord::Lane& lane = self(ctx).of(rank).lanes.at(static_cast<size_t>(index));
    *kind = lane.kind;
    *name = to_c(lane.name);
  }
  static uint64_t communicator_count(void* ctx, uint32_t rank) noexcept {
    return self(ctx).of(rank).communicators.size();
  }
  static void communicator(void* ctx, uint32_t rank, uint64_t index,
                           prism_trace_communicator_t* c) noexcept {
    const TraceRecord::Communicator& communicator =
        self(ctx).of(rank).communicators.at(static_cast<size_t>(index));
    c->name = to_c(communicator.name);
    c->description = to_c(communicator.description);
    c->backend = to_c(communicator.backend);
    c->ranks = communicator.ranks.data();
    c->rank_count = communicator.ranks.size();
  }
  static uint64_t node_count(void* ctx, uint32_t rank) noexcept {
    return self(ctx).of(rank).nodes.size();
  }
  static void node(void* ctx, uint32_t rank, uint64_t index, prism_trace_node_t* c,
                   int64_t* arrival_ns) noexcept {
    const TraceRecord::Node& node = self(ctx).of(rank).nodes.at(static_cast<size_t>(index));
    *c = node.c;
    c->name = to_c(node.name);
    c->phase = to_c(node.phase);
    c->parts = node.parts.data();
    c->part_count = node.parts.size();
    c->dependencies = node.dependencies.data();
    c->dependency_count = node.dependencies.size();
    const auto arrival = self(ctx).arrivals_.find({rank, index});
    *arrival_ns = arrival == self(ctx).arrivals_.end() ? node.c.start_ns : arrival->second;
  }

  std::vector<TraceRecord::Rank> ranks_;
  std::map<std::pair<uint32_t, uint64_t>, int64_t> arrivals_;
  prism_trace_reader_t reader_{sizeof(prism_trace_reader_t),
                               0,
                               this,
                               0,
                               &rank,
                               &lane_count,
                               &lane,
                               &communicator_count,
                               &communicator,
                               &node_count,
                               &node};
};

}  // namespace prism::sdk::testing
