// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/chakra/own_trace.hpp"

#include <limits>
#include <string>

#include "plugins/formats/chakra/collectives.hpp"
#include "prism/sdk/error.hpp"

namespace prism::chakra {
namespace {

class Teller {
 public:
  Teller(const RankTrace& trace, const Needs& needs, sdk::TraceSink& sink)
      : trace_(trace),
        needs_(needs),
        sink_(sink),
        lane_end_(trace.lanes.size(), std::numeric_limits<int64_t>::min()),
        index_of_(trace.nodes.size(), PRISM_NO_INDEX) {}

  void run() {
    for (const Lane& lane : trace_.lanes) {
      sink_.add_lane(lane.kind, lane.name);
    }
    for (const Group& group : trace_.communicators) {
      sink_.add_communicator({group.name, group.description, group.backend, group.ranks});
    }
    // That of the file, which is that of the graph.
    const std::vector<uint64_t> in_order_of_file(trace_.nodes.size(), 0);
    for (const uint32_t node : needs_.order(in_order_of_file)) {
      if (trace_.nodes[node].type != NodeType::Metadata) {
        tell_node(node);
      }
    }
  }

 private:
  [[noreturn]] void fail(const Node& node, const std::string& what) const {
    throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                     trace_.place(node) + " " + what +
                         "; what Prism wrote was expected, as the metadata has prism.version");
  }

  void tell_node(uint32_t number) {
    const Node& node = trace_.nodes[number];
    if (node.own == kNone) {
      fail(node, "has no attributes of Prism");
    }
    const OwnNode& own = trace_.own[node.own];
    if (own.part) {
      return;  // comes with its batch
    }
    sdk::TraceNode told;
    parts_.clear();
    set_place(node, own, told);
    if (own.batch) {
      set_batch(number, told);
    } else if (node.type == NodeType::Send || node.type == NodeType::Recv) {
      add_part(node);
      told.kind = parts_.back().kind;
    } else if (node.type == NodeType::Collective) {
      set_collective(node, told);
    }
    for (prism_trace_part_t& part : parts_) {
      part.start_ns = told.start_ns;
      part.end_ns = told.end_ns;
    }
    told.parts = parts_;
    set_dependencies(own.batch ? needs_.of(number).front() : number, own.lane_order);
    told.dependencies = dependencies_;
    index_of_[number] = sink_.add_node(told);
  }

  void set_place(const Node& node, const OwnNode& own, sdk::TraceNode& told) {
    if (own.lane == kNotTold || own.start_ns == kNotTold || own.end_ns == kNotTold) {
      fail(node, "lacks one of prism.lane, prism.start_ns and prism.end_ns");
    }
    if (static_cast<uint64_t>(own.lane) >= trace_.lanes.size()) {
      fail(node,
           "is on lane " + std::to_string(own.lane) + " of " + std::to_string(trace_.lanes.size()));
    }
    told.lane = static_cast<uint32_t>(own.lane);
    // A communication's span begins with its arrival.
    told.start_ns = own.arrival_ns == kNotTold ? own.start_ns : own.arrival_ns;
    told.end_ns = own.end_ns;
    if (told.end_ns < told.start_ns || told.start_ns < lane_end_[told.lane]) {
      fail(node, "is from " + std::to_string(told.start_ns) + " to " + std::to_string(told.end_ns) +
                     " ns, out of order on its lane '" + trace_.lanes[told.lane].name + "'");
    }
    lane_end_[told.lane] = told.end_ns;
    told.name = node.name == kNone ? "" : std::string_view(trace_.texts[node.name]);
    told.phase = own.phase == kNone ? "" : std::string_view(trace_.texts[own.phase]);
    told.iteration = own.iteration;
    told.micro_batch = own.micro_batch;
    told.chunk = own.chunk;
    told.layer = own.layer;
  }

  /// Whose communicator there is.
  const Communication& communication_of(const Node& node) const {
    if (node.communication == kNone) {
      fail(node, "is a communication but lacks prism.communicator");
    }
    const Communication& said = trace_.communications[node.communication];
    if (said.communicator < 0 ||
        static_cast<uint64_t>(said.communicator) >= trace_.communicators.size()) {
      fail(node, "is of no communicator that the metadata has");
    }
    return said;
  }

  void set_collective(const Node& node, sdk::TraceNode& told) {
    const Communication& said = communication_of(node);
    told.kind = kind_of_collective(trace_, node, said);
    told.communicator = static_cast<uint32_t>(said.communicator);
    told.sequence = said.sequence;
    told.root = said.root;
    told.dtype = said.dtype;
    told.reduction = said.reduction;
    told.input_bytes = static_cast<uint64_t>(said.input_bytes);
    told.output_bytes = static_cast<uint64_t>(said.output_bytes);
  }

  void add_part(const Node& node) {
    const Communication& said = communication_of(node);
    prism_trace_part_t part{};
    part.kind = node.type == NodeType::Send ? PRISM_COMM_SEND : PRISM_COMM_RECV;
    part.peer = said.peer;
    part.tag = said.tag;
    part.communicator = static_cast<uint32_t>(said.communicator);
    part.dtype = said.dtype;
    part.bytes = said.bytes == kNotTold ? 0 : static_cast<uint64_t>(said.bytes);
    parts_.push_back(part);
  }

  void set_batch(uint32_t number, sdk::TraceNode& told) {
    const Node& node = trace_.nodes[number];
    told.kind = PRISM_NODE_BATCH;
    for (const uint32_t need : needs_.of(number)) {
      const Node& part = trace_.nodes[need];
      if ((part.type != NodeType::Send && part.type != NodeType::Recv) || part.own == kNone ||
          !trace_.own[part.own].part) {
        fail(node, "is a batch and depends on node " + std::to_string(part.id) +
                       ", which is no part of it");
      }
      add_part(part);
    }
    if (parts_.empty()) {
      fail(node, "is a batch without parts");
    }
  }

  /// Those of `number`: of a batch, its first part.
  void set_dependencies(uint32_t number, bool lane_order) {
    std::span<const uint32_t> needs = needs_.of(number);
    if (lane_order && !needs.empty()) {
      needs = needs.first(needs.size() - 1);
    }
    dependencies_.clear();
    for (const uint32_t need : needs) {
      if (index_of_[need] == PRISM_NO_INDEX) {
        fail(trace_.nodes[number], "depends on node " + std::to_string(trace_.nodes[need].id) +
                                       ", which is part of another");
      }
      dependencies_.push_back(index_of_[need]);
    }
  }

  const RankTrace& trace_;
  const Needs& needs_;
  sdk::TraceSink& sink_;
  std::vector<int64_t> lane_end_;   ///< by lane
  std::vector<uint32_t> index_of_;  ///< of the sink, by node
  // Of the present node.
  std::vector<prism_trace_part_t> parts_;
  std::vector<uint32_t> dependencies_;
};

}  // namespace

void tell_own(const RankTrace& trace, const Needs& needs, sdk::TraceSink& sink) {
  Teller(trace, needs, sink).run();
}

}  // namespace prism::chakra
