// SPDX-License-Identifier: Apache-2.0
/// A trace sink that keeps what an importer says, for the importer's unit tests.
///
///   prism::sdk::testing::TraceRecord record;
///   prism::sdk::TraceSink sink(record.c());
///   MyFormat(values).import_trace(inputs, sink);
///   EXPECT_EQ(record.ranks[0].nodes[3].name, "gemm");
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "prism/abi/draft/format.h"
#include "prism/sdk/error.hpp"
#include "prism/sdk/text.hpp"

namespace prism::sdk::testing {

class TraceRecord {
 public:
  struct Lane {
    int32_t kind = 0;
    std::string name;
  };
  struct Communicator {
    std::string name;
    std::string description;
    std::string backend;
    std::vector<uint32_t> ranks;
  };
  struct Node {
    prism_trace_node_t c{};  ///< its pointers are not valid: see the copies
    std::string name;
    std::string phase;
    std::vector<prism_trace_part_t> parts;
    std::vector<uint32_t> dependencies;
  };
  struct Rank {
    uint32_t rank = 0;
    uint32_t clock = 0;
    std::string source;
    std::vector<Lane> lanes;
    std::vector<Communicator> communicators;
    std::vector<Node> nodes;
  };

  TraceRecord() = default;
  TraceRecord(const TraceRecord&) = delete;
  TraceRecord& operator=(const TraceRecord&) = delete;

  const prism_trace_sink_t& c() const { return sink_; }

  std::vector<Rank> ranks;  ///< in the order in which they came
  std::vector<std::string> notes;

 private:
  using Err = prism_error_sink_t;

  static TraceRecord& self(void* ctx) { return *static_cast<TraceRecord*>(ctx); }
  static Rank& current(void* ctx) {
    if (self(ctx).ranks.empty()) {
      throw Error(PRISM_STATUS_INVALID_ARGUMENT, "no rank has begun");
    }
    return self(ctx).ranks.back();
  }
  template <typename T>
  static uint32_t push(std::vector<T>& to, T entry) {
    to.push_back(std::move(entry));
    return static_cast<uint32_t>(to.size() - 1);
  }

  static prism_status_t begin_rank(void* ctx, uint32_t rank, uint32_t clock, prism_str_t source,
                                   const Err* err) noexcept {
    return guarded(err, [&] {
      self(ctx).ranks.push_back({rank, clock, copy(source), {}, {}, {}});
    });
  }
  static prism_status_t add_lane(void* ctx, int32_t kind, prism_str_t name, uint32_t* index,
                                 const Err* err) noexcept {
    return guarded(err, [&] { *index = push(current(ctx).lanes, {kind, copy(name)}); });
  }
  static prism_status_t add_communicator(void* ctx, const prism_trace_communicator_t* c,
                                         uint32_t* index, const Err* err) noexcept {
    return guarded(err, [&] {
      *index = push(current(ctx).communicators, {copy(c->name),
                                                 copy(c->description),
                                                 copy(c->backend),
                                                 {c->ranks, c->ranks + c->rank_count}});
    });
  }
  static prism_status_t add_node(void* ctx, const prism_trace_node_t* c, uint32_t* index,
                                 const Err* err) noexcept {
    return guarded(err, [&] {
      Rank& rank = current(ctx);
      for (uint64_t i = 0; i < c->dependency_count; ++i) {
        if (c->dependencies[i] >= rank.nodes.size()) {
          throw Error(PRISM_STATUS_INVALID_ARGUMENT, "a node depends on one that is not there yet");
        }
      }
      if (c->lane >= rank.lanes.size() || c->end_ns < c->start_ns) {
        throw Error(PRISM_STATUS_INVALID_ARGUMENT, "a node has no lane, or ends before it starts");
      }
      *index = push(rank.nodes, {*c,
                                 copy(c->name),
                                 copy(c->phase),
                                 {c->parts, c->parts + c->part_count},
                                 {c->dependencies, c->dependencies + c->dependency_count}});
    });
  }
  static void note(void* ctx, prism_str_t text) noexcept {
    guarded(nullptr, [&] { self(ctx).notes.push_back(copy(text)); });
  }

  prism_trace_sink_t sink_{sizeof(prism_trace_sink_t), 0,         this, &begin_rank, &add_lane,
                           &add_communicator,          &add_node, &note};
};

}  // namespace prism::sdk::testing
