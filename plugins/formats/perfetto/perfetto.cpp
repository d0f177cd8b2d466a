// SPDX-License-Identifier: Apache-2.0
/// A timeline in the Chrome trace format, which the Perfetto UI opens: a process per rank, a thread
/// per lane, arrows for what waited for what. A communication's slice begins when its rank arrives.
/// The file is written as the nodes come; the reader is gone through twice, first for the origin of
/// time and for who meets whom.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/formats/node_text.hpp"
#include "plugins/formats/perfetto/arrows.hpp"
#include "plugins/formats/perfetto/events.hpp"
#include "prism/sdk/format.hpp"
#include "prism/sdk/plugin.hpp"

namespace {

using prism::perfetto::Arguments;
using prism::perfetto::Arrows;
using prism::perfetto::Events;
using prism::perfetto::Point;
using prism::sdk::ReplayedNode;
using prism::sdk::TraceCommunicator;
using prism::sdk::TraceNode;
using prism::sdk::TraceReader;

bool communicates(const TraceNode& node) {
  return node.kind != PRISM_NODE_COMPUTE;
}

int64_t begin_of(const ReplayedNode& replayed) {
  return communicates(replayed.node) ? replayed.arrival_ns : replayed.node.start_ns;
}

std::vector<TraceCommunicator> communicators_of(const TraceReader& reader, uint32_t rank) {
  std::vector<TraceCommunicator> result;
  for (uint64_t i = 0; i < reader.communicator_count(rank); ++i) {
    result.push_back(reader.communicator(rank, i));
  }
  return result;
}

class Exporter {
 public:
  Exporter(const TraceReader& reader, const std::string& path)
      : reader_(reader), ranks_(reader.ranks()), events_(path, look_ahead()) {}

  void write() {
    for (const uint32_t rank : ranks_) {
      write_rank(rank);
    }
    arrows_.write(events_);
    events_.close();
  }

 private:
  /// The slice of a node, for arrows from it; empty ones are not drawn.
  struct Slice {
    uint32_t lane = 0;
    int64_t begin_ns = 0;
    int64_t end_ns = 0;
  };

  /// The earliest begin; fills arrows_.
  int64_t look_ahead() {
    int64_t origin = std::numeric_limits<int64_t>::max();
    for (const uint32_t rank : ranks_) {
      arrows_.begin_rank(rank, communicators_of(reader_, rank));
      for (uint64_t n = 0; n < reader_.node_count(rank); ++n) {
        const ReplayedNode node = reader_.node(rank, n);
        origin = std::min(origin, begin_of(node));
        arrows_.add(node);
      }
    }
    return origin;
  }

  void write_rank(uint32_t rank) {
    events_.name_rank(rank);
    for (uint64_t lane = 0; lane < reader_.lane_count(rank); ++lane) {
      events_.name_lane(rank, static_cast<uint32_t>(lane), reader_.lane(rank, lane).name);
    }
    communicators_ = communicators_of(reader_, rank);
    slices_.clear();
    for (uint64_t n = 0; n < reader_.node_count(rank); ++n) {
      write_node(rank, n);
    }
  }

  void write_node(uint32_t rank, uint64_t n) {
    const ReplayedNode replayed = reader_.node(rank, n);
    const TraceNode& node = replayed.node;
    const Slice slice{node.lane, begin_of(replayed), node.end_ns};
    slices_.push_back(slice);
    if (slice.end_ns == slice.begin_ns && !communicates(node)) {
      return;  // nothing to see
    }
    const Point begin{rank, slice.lane, slice.begin_ns};
    events_.slice(begin, slice.end_ns - slice.begin_ns, name_of(node), arguments_of(replayed, n));
    for (const uint32_t dependency : node.dependencies) {
      const Slice& from = slices_.at(dependency);
      if (from.lane != slice.lane && from.end_ns > from.begin_ns) {
        events_.arrow({rank, from.lane, from.end_ns - 1}, begin, "dependency");
      }
    }
  }

  static std::string name_of(const TraceNode& node) {
    if (!node.name.empty()) {
      return std::string(node.name);
    }
    std::string name(prism::formats::kind_name(node.kind));
    return node.sequence >= 0 ? name + " " + std::to_string(node.sequence) : name;
  }

  Arguments arguments_of(const ReplayedNode& replayed, uint64_t n) const {
    const TraceNode& node = replayed.node;
    Arguments arguments;
    arguments.number("node", static_cast<int64_t>(n));
    if (!node.phase.empty()) {
      arguments.text("phase", node.phase);
    }
    for (const auto& [name, value] :
         {Label{"iteration", node.iteration}, Label{"micro_batch", node.micro_batch},
          Label{"chunk", node.chunk}, Label{"layer", node.layer}}) {
      if (value >= 0) {
        arguments.number(name, value);
      }
    }
    if (communicates(node)) {
      arguments.text("kind", prism::formats::kind_name(node.kind));
      arguments.number("waited_ns", node.start_ns - replayed.arrival_ns);
      add_communication(arguments, node);
    }
    return arguments;
  }

  void add_communication(Arguments& arguments, const TraceNode& node) const {
    if (node.parts.empty()) {
      if (node.communicator < communicators_.size()) {
        arguments.text("group", communicators_[node.communicator].name);
      }
      arguments.number("input_bytes", static_cast<int64_t>(node.input_bytes));
      arguments.number("output_bytes", static_cast<int64_t>(node.output_bytes));
      return;
    }
    std::string messages;
    for (const prism_trace_part_t& part : node.parts) {
      const TraceCommunicator& group = communicators_.at(part.communicator);
      messages += messages.empty() ? "" : "; ";
      messages += prism::formats::kind_name(part.kind);
      messages += part.kind == PRISM_COMM_SEND ? " to " : " from ";
      messages += part.peer < 0
                      ? "any rank"
                      : "rank " + std::to_string(group.ranks.at(static_cast<size_t>(part.peer)));
      messages += ", " + std::to_string(part.bytes) + " bytes, " + group.name;
    }
    arguments.text("messages", messages);
  }

  struct Label {
    std::string_view name;
    int32_t value;
  };

  const TraceReader& reader_;
  std::vector<uint32_t> ranks_;
  Arrows arrows_;
  Events events_;
  // Of the present rank.
  std::vector<TraceCommunicator> communicators_;
  std::vector<Slice> slices_;  // by node
};

class PerfettoFormat {
 public:
  explicit PerfettoFormat(const prism::sdk::OptionValues& /*values*/) {}

  static void export_trace(const TraceReader& reader, const std::string& path) {
    Exporter(reader, path).write();
  }
};

}  // namespace

PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION, prism::sdk::Format<PerfettoFormat>);
