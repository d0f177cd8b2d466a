// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/chakra/foreign.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "plugins/formats/chakra/collectives.hpp"
#include "plugins/formats/chakra/communicators.hpp"
#include "plugins/formats/chakra/lanes.hpp"
#include "prism/sdk/error.hpp"

namespace prism::chakra {
namespace {

constexpr int64_t kMostTime = 4'000'000'000'000'000'000;

/// When nodes started.
class Starts {
 public:
  explicit Starts(const RankTrace& trace) {
    uint64_t first = kMostTime;
    uint64_t last = 0;
    for (const Node& node : trace.nodes) {
      if (node.start_us > 0) {
        first = std::min(first, node.start_us);
        last = std::max(last, node.start_us + node.duration_us);
      }
    }
    if (last > 0) {
      // The wire does not tell 0 from nothing. Where the others begin later than they last, they
      // count from another time than 0.
      zero_is_time_ = first <= last - first;
      origin_ns_ = zero_is_time_ ? 0 : static_cast<int64_t>(first) * kTick;
    }
  }

  std::optional<int64_t> of(const Node& node) const {
    if (node.start_us > 0 || zero_is_time_) {
      return static_cast<int64_t>(node.start_us) * kTick;
    }
    return std::nullopt;
  }
  /// Of a node that does not tell it and depends on nothing.
  int64_t origin_ns() const { return origin_ns_; }

 private:
  bool zero_is_time_ = false;
  int64_t origin_ns_ = 0;
};

class Teller {
 public:
  Teller(const RankTrace& trace, const Needs& needs, uint32_t rank, const Job& job,
         sdk::TraceSink& sink, Counts& counts)
      : trace_(trace),
        needs_(needs),
        rank_(rank),
        sink_(sink),
        counts_(counts),
        starts_(trace),
        communicators_(trace, job.groups, rank, job.ranks, sink),
        lanes_(sink),
        told_(trace.nodes.size()) {}

  void run() {
    for (const uint32_t node : needs_.order(ranks_of_nodes())) {
      tell_node(node);
    }
  }

 private:
  /// What became of a node.
  struct Told {
    uint32_t index = PRISM_NO_INDEX;  ///< of the sink
    int64_t end_ns = 0;
  };

  /// In time; without times in the order of ids, which is that in which tools met or made nodes,
  /// and the same on all ranks whatever their durations.
  std::vector<uint64_t> ranks_of_nodes() const {
    const bool timed = has_start_times(trace_);
    std::vector<uint64_t> ranks;
    ranks.reserve(trace_.nodes.size());
    for (const Node& node : trace_.nodes) {
      ranks.push_back(timed ? node.start_us : node.id);
    }
    return ranks;
  }

  void tell_node(uint32_t number) {
    const Node& node = trace_.nodes[number];
    if (node.type == NodeType::Metadata && node.duration_us == 0 && !needs_.is_needed(number)) {
      return;  // it has told what it had to tell
    }
    sdk::TraceNode told;
    lane_kind_ = node.on_cpu ? PRISM_LANE_CPU : PRISM_LANE_STREAM;
    describe(node, told);
    place(number, told);
    if (told.end_ns > kMostTime) {
      throw sdk::Error(
          PRISM_STATUS_INVALID_ARGUMENT,
          trace_.place(node) + " ends more than 120 years after the beginning of time");
    }
    if (node.name != kNone) {
      told.name = trace_.texts[node.name];
    }
    for (prism_trace_part_t& part : parts_) {
      part.start_ns = told.start_ns;
      part.end_ns = told.end_ns;
    }
    told.parts = parts_;
    told.dependencies = dependencies_;
    told_[number] = {sink_.add_node(told), told.end_ns};
  }

  // ---- What it is: kind, parts_, and the lane ----

  void describe(const Node& node, sdk::TraceNode& told) {
    parts_.clear();
    switch (node.type) {
      case NodeType::Collective:
        describe_collective(node, told);
        return;
      case NodeType::Send:
      case NodeType::Recv:
        describe_message(node, told);
        return;
      case NodeType::MemoryLoad:
      case NodeType::MemoryStore:
        ++counts_.memory;
        lane_name_ = "memory";
        return;
      case NodeType::Invalid:
        ++counts_.invalid;
        break;
      default:
        break;
    }
    if (node.on_cpu) {
      lane_name_ = node.thread == kNotTold ? "cpu" : "cpu:" + std::to_string(node.thread);
    } else {
      lane_name_ = node.stream == kNotTold ? "stream" : "stream:" + std::to_string(node.stream);
    }
  }

  const Communication& communication_of(const Node& node) const {
    static const Communication kNothing;
    return node.communication == kNone ? kNothing : trace_.communications[node.communication];
  }

  void describe_collective(const Node& node, sdk::TraceNode& told) {
    const Communication& said = communication_of(node);
    told.kind = kind_of_collective(trace_, node, said);
    const Communicators::Known& group = communicators_.find(node, said.group);
    told.communicator = group.index;
    if (has_root(told.kind)) {
      told.root = 0;
      ++counts_.without_root;
    }
    counts_.some_dimensions += said.some_dimensions ? 1 : 0;
    if (told.kind != PRISM_COMM_BARRIER) {
      set_bytes(said, group.size, told);
    }
    lane_kind_ = PRISM_LANE_COMM;
    lane_name_ = "comm:" + group.name;
  }

  void set_bytes(const Communication& said, uint32_t members, sdk::TraceNode& told) {
    if (said.bytes == kNotTold) {
      ++counts_.without_size;
      return;
    }
    const auto bytes = static_cast<uint64_t>(said.bytes);
    told.input_bytes = told.output_bytes = bytes;
    if (told.kind == PRISM_COMM_REDUCE_SCATTER) {
      told.output_bytes = bytes / members;
    } else if (told.kind == PRISM_COMM_ALL_GATHER &&
               __builtin_mul_overflow(bytes, uint64_t{members}, &told.output_bytes)) {
      told.output_bytes = bytes;
    }
  }

  void describe_message(const Node& node, sdk::TraceNode& told) {
    const bool sends = node.type == NodeType::Send;
    const Communication& said = communication_of(node);
    lane_kind_ = PRISM_LANE_COMM;
    lane_name_ = sends ? "send" : "recv";
    const int64_t own = sends ? said.source : said.destination;
    const int64_t peer = sends ? said.destination : said.source;
    if (own != kNotTold && own != rank_) {
      throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                       trace_.place(node) + (sends ? " sends from rank " : " receives at rank ") +
                           std::to_string(own) + ", but the file is taken to be of rank " +
                           std::to_string(rank_));
    }
    if (peer == kNotTold) {
      ++counts_.without_peer;
      return;
    }
    const Communicators::Known& group = communicators_.find(node, said.group);
    const auto position = group.position_of.find(static_cast<uint32_t>(peer));
    if (position == group.position_of.end()) {
      throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                       trace_.place(node) + (sends ? " sends to rank " : " receives from rank ") +
                           std::to_string(peer) + ", which is not in the group '" + group.name +
                           "' of " + std::to_string(group.size) +
                           " ranks; give the files of all ranks");
    }
    counts_.without_size += said.bytes == kNotTold ? 1 : 0;
    prism_trace_part_t part{};
    part.kind = told.kind = sends ? PRISM_COMM_SEND : PRISM_COMM_RECV;
    part.peer = position->second;
    part.tag = said.tag;
    part.communicator = group.index;
    part.dtype = PRISM_DTYPE_OTHER;
    part.bytes = static_cast<uint64_t>(std::max<int64_t>(said.bytes, 0));
    parts_.push_back(part);
    lane_name_ += ":" + std::to_string(peer);
  }

  // ---- When it is, and what it depends on ----

  void place(uint32_t number, sdk::TraceNode& told) {
    const Node& node = trace_.nodes[number];
    const auto duration = static_cast<int64_t>(node.duration_us) * kTick;
    const std::optional<int64_t> start = starts_.of(node);
    int64_t earliest = start.value_or(starts_.origin_ns());
    dependencies_.clear();
    for (const uint32_t need : needs_.of(number)) {
      if (told_[need].index == PRISM_NO_INDEX) {
        continue;
      }
      if (start && told_[need].end_ns > *start + kTick) {
        ++counts_.contradicting;
        continue;
      }
      earliest = std::max(earliest, told_[need].end_ns);
      dependencies_.push_back(told_[need].index);
    }
    std::sort(dependencies_.begin(), dependencies_.end());
    dependencies_.erase(std::unique(dependencies_.begin(), dependencies_.end()),
                        dependencies_.end());
    const Lanes::Place at =
        start ? lanes_.at(lane_kind_, lane_name_, earliest, std::max(earliest, *start + duration))
              : lanes_.from(lane_kind_, lane_name_, earliest, duration);
    counts_.overlapping += start && at.further ? 1 : 0;
    told.lane = at.lane;
    told.start_ns = at.start_ns;
    told.end_ns = at.end_ns;
  }

  const RankTrace& trace_;
  const Needs& needs_;
  const uint32_t rank_;
  sdk::TraceSink& sink_;
  Counts& counts_;
  const Starts starts_;
  Communicators communicators_;
  Lanes lanes_;
  std::vector<Told> told_;  ///< by node
  // Of the present node.
  int32_t lane_kind_ = PRISM_LANE_CPU;
  std::string lane_name_;
  std::vector<prism_trace_part_t> parts_;
  std::vector<uint32_t> dependencies_;
};

}  // namespace

bool has_start_times(const RankTrace& trace) {
  return std::any_of(trace.nodes.begin(), trace.nodes.end(),
                     [](const Node& node) { return node.start_us > 0; });
}

void tell_foreign(const RankTrace& trace, const Needs& needs, uint32_t rank, const Job& job,
                  sdk::TraceSink& sink, Counts& counts) {
  counts.without_times += has_start_times(trace) ? 0 : 1;
  counts.unreadable_groups += trace.unreadable_groups;
  Teller(trace, needs, rank, job, sink, counts).run();
}

}  // namespace prism::chakra
