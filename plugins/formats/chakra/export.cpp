// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/chakra/export.hpp"

#include <algorithm>
#include <vector>

#include "plugins/formats/chakra/attribute.hpp"
#include "plugins/formats/chakra/collectives.hpp"
#include "plugins/formats/chakra/group_numbers.hpp"
#include "plugins/formats/chakra/schema.hpp"
#include "plugins/formats/output_file.hpp"

namespace prism::chakra {
namespace {

constexpr uint64_t kNoId = ~uint64_t{0};

/// Both ends of a span are rounded down, so that spans of a lane neither overlap nor drift.
uint64_t microseconds(int64_t ns) {
  return ns < 0 ? 0 : static_cast<uint64_t>(ns / 1000);
}

class RankExport {
 public:
  RankExport(const sdk::TraceReader& reader, uint32_t rank, GroupNumbers& groups,
             const std::string& path)
      : reader_(reader), rank_(rank), file_(path) {
    communicators_.reserve(reader.communicator_count(rank));
    for (uint64_t i = 0; i < reader.communicator_count(rank); ++i) {
      communicators_.push_back(reader.communicator(rank, i));
    }
    groups_ = groups.of_rank(communicators_);
  }

  void write() {
    write_metadata();
    write_groups();
    lane_last_.assign(reader_.lane_count(rank_), kNoId);
    ids_.reserve(reader_.node_count(rank_));
    for (uint64_t n = 0; n < reader_.node_count(rank_); ++n) {
      write_node(reader_.node(rank_, n));
    }
    file_.close();
  }

 private:
  void put_message() {
    std::string length;
    put_varint(length, message_.size());
    file_.write(length);
    file_.write(message_);
    message_.clear();
  }

  void write_metadata() {
    std::vector<std::string> lane_names;
    std::vector<int64_t> lane_kinds;
    for (uint64_t i = 0; i < reader_.lane_count(rank_); ++i) {
      const sdk::TraceLane lane = reader_.lane(rank_, i);
      lane_names.emplace_back(lane.name);
      lane_kinds.push_back(lane.kind);
    }
    std::vector<std::string> names;
    std::vector<std::string> descriptions;
    std::vector<std::string> backends;
    std::vector<int64_t> sizes;
    std::vector<int64_t> ranks;
    for (const sdk::TraceCommunicator& communicator : communicators_) {
      names.push_back(communicator.name);
      descriptions.push_back(communicator.description);
      backends.push_back(communicator.backend);
      sizes.push_back(static_cast<int64_t>(communicator.ranks.size()));
      ranks.insert(ranks.end(), communicator.ranks.begin(), communicator.ranks.end());
    }
    put_bytes(message_, metadata_field::kVersion, kVersion);
    AttributeWriter to(message_, metadata_field::kAttribute);
    to.integer(own::kVersion, own::kRevision);
    to.texts(own::kLaneNames, lane_names);
    to.integers(own::kLaneKinds, lane_kinds);
    to.texts(own::kCommunicatorNames, names);
    to.texts(own::kCommunicatorDescriptions, descriptions);
    to.texts(own::kCommunicatorBackends, backends);
    to.integers(own::kCommunicatorSizes, sizes);
    to.integers(own::kCommunicatorRanks, ranks);
    put_message();
  }

  /// As tools write what PyTorch says. The id is the smallest: ASTRA-sim goes by it, and must know
  /// the groups before it meets a collective.
  void write_groups() {
    std::string list;
    for (size_t i = 0; i < groups_.size(); ++i) {
      list += (i == 0 ? "" : ", ") + ("{\"pg_name\": \"" + std::to_string(groups_[i])) +
              "\", \"ranks\": " + json_of(communicators_[i].ranks) + "}";
    }
    std::string inputs;
    put_bytes(inputs, io_field::kValues, "['[" + list + "]']");
    begin_node("## process_group:init ##", NodeType::Metadata, {});
    put_bytes(message_, node_field::kInputs, inputs);
    attributes_.flag(attribute::kOnCpu, true);
    put_message();
  }

  /// Returns the id.
  uint64_t begin_node(std::string_view name, NodeType type, const std::vector<uint64_t>& needs) {
    put_number(message_, node_field::kId, next_id_);
    if (!name.empty()) {
      put_bytes(message_, node_field::kName, name);
    }
    put_number(message_, node_field::kType, static_cast<uint64_t>(type));
    if (!needs.empty()) {
      packed_.clear();
      for (const uint64_t need : needs) {
        put_varint(packed_, need);
      }
      put_bytes(message_, node_field::kDataDependencies, packed_);
    }
    return next_id_++;
  }

  void write_node(const sdk::ReplayedNode& replayed) {
    const sdk::TraceNode& node = replayed.node;
    const bool lane_order = find_needs(node);
    uint64_t id = 0;
    if (node.kind == PRISM_NODE_BATCH) {
      std::vector<uint64_t> parts;
      parts.reserve(node.parts.size());
      for (const prism_trace_part_t& part : node.parts) {
        parts.push_back(begin_node(node.name, message_type(part), needs_));
        put_times(replayed);
        add_part(part);
        attributes_.flag(own::kPart, true);
        put_message();
      }
      // What waits for the batch waits for its parts; the span is theirs.
      id = begin_node(node.name, NodeType::Compute, parts);
      put_number(message_, node_field::kStart, microseconds(node.end_ns));
      attributes_.flag(attribute::kOnCpu, false);
      attributes_.flag(own::kBatch, true);
    } else if (!node.parts.empty()) {
      id = begin_node(node.name, message_type(node.parts.front()), needs_);
      put_times(replayed);
      add_part(node.parts.front());
    } else if (node.kind == PRISM_NODE_COMPUTE) {
      id = begin_node(node.name, NodeType::Compute, needs_);
      put_times(replayed);
      attributes_.flag(attribute::kOnCpu, reader_.lane(rank_, node.lane).kind == PRISM_LANE_CPU);
    } else {
      id = begin_node(node.name, NodeType::Collective, needs_);
      put_times(replayed);
      add_collective(node);
    }
    add_own(replayed, lane_order);
    put_message();
    ids_.push_back(id);
    lane_last_.at(node.lane) = id;
  }

  /// needs_: dependencies, each once, then what comes before on the lane: others know no lanes.
  /// True: the last one is there for the lane only.
  bool find_needs(const sdk::TraceNode& node) {
    needs_.clear();
    for (const uint32_t dependency : node.dependencies) {
      needs_.push_back(ids_.at(dependency));
    }
    const uint64_t before = lane_last_.at(node.lane);
    const bool add_before =
        before != kNoId && std::find(needs_.begin(), needs_.end(), before) == needs_.end();
    sorted_ = needs_;
    std::sort(sorted_.begin(), sorted_.end());
    if (std::adjacent_find(sorted_.begin(), sorted_.end()) != sorted_.end()) {
      // A reader that takes off one of two would wait forever.
      needs_.assign(sorted_.begin(), std::unique(sorted_.begin(), sorted_.end()));
    }
    if (add_before) {
      needs_.push_back(before);
    }
    return add_before;
  }

  void put_times(const sdk::ReplayedNode& replayed) {
    const uint64_t start = microseconds(replayed.node.start_ns);
    put_number(message_, node_field::kStart, start);
    put_number(message_, node_field::kDuration, microseconds(replayed.node.end_ns) - start);
  }

  static NodeType message_type(const prism_trace_part_t& part) {
    return part.kind == PRISM_COMM_SEND ? NodeType::Send : NodeType::Recv;
  }

  void add_part(const prism_trace_part_t& part) {
    const std::vector<uint32_t>& ranks = communicators_.at(part.communicator).ranks;
    const bool sends = part.kind == PRISM_COMM_SEND;
    attributes_.flag(attribute::kOnCpu, false);
    attributes_.integer(attribute::kSize, static_cast<int64_t>(part.bytes));
    attributes_.integer32(sends ? attribute::kSource : attribute::kDestination,
                          static_cast<int32_t>(rank_));
    if (part.peer >= 0) {  // else from any rank
      attributes_.integer32(sends ? attribute::kDestination : attribute::kSource,
                            static_cast<int32_t>(ranks.at(static_cast<size_t>(part.peer))));
    }
    attributes_.integer32(attribute::kTag, part.tag);
    attributes_.text(attribute::kGroup, std::to_string(groups_.at(part.communicator)));
    attributes_.integer(own::kCommunicator, part.communicator);
    attributes_.integer(own::kPeer, part.peer);
    attributes_.integer(own::kDtype, part.dtype);
  }

  void add_collective(const sdk::TraceNode& node) {
    // A rank that puts nothing in, of a broadcast say, still takes part in one of this size.
    const uint64_t size = node.input_bytes > 0 ? node.input_bytes : node.output_bytes;
    attributes_.flag(attribute::kOnCpu, false);
    attributes_.integer(attribute::kCollective,
                        static_cast<int64_t>(type_of_collective(node.kind)));
    attributes_.integer(attribute::kSize, static_cast<int64_t>(size));
    attributes_.text(attribute::kGroup, std::to_string(groups_.at(node.communicator)));
    attributes_.integer(own::kCommunicator, node.communicator);
    if (node.sequence >= 0) {
      attributes_.integer(own::kSequence, node.sequence);
    }
    if (node.root >= 0) {
      attributes_.integer(own::kRoot, node.root);
    }
    attributes_.integer(own::kDtype, node.dtype);
    attributes_.integer(own::kReduction, node.reduction);
    attributes_.integer(own::kInputBytes, static_cast<int64_t>(node.input_bytes));
    attributes_.integer(own::kOutputBytes, static_cast<int64_t>(node.output_bytes));
  }

  void add_own(const sdk::ReplayedNode& replayed, bool lane_order) {
    const sdk::TraceNode& node = replayed.node;
    attributes_.integer(own::kLane, node.lane);
    if (node.kind != PRISM_NODE_COMPUTE) {
      attributes_.integer(own::kArrival, replayed.arrival_ns);
    }
    attributes_.integer(own::kStart, node.start_ns);
    attributes_.integer(own::kEnd, node.end_ns);
    if (!node.phase.empty()) {
      attributes_.text(own::kPhase, node.phase);
    }
    const struct {
      std::string_view name;
      int32_t value;
    } labels[] = {{own::kIteration, node.iteration},
                  {own::kMicroBatch, node.micro_batch},
                  {own::kChunk, node.chunk},
                  {own::kLayer, node.layer}};
    for (const auto& label : labels) {
      if (label.value >= 0) {
        attributes_.integer(label.name, label.value);
      }
    }
    if (lane_order) {
      attributes_.flag(own::kLaneOrder, true);
    }
  }

  const sdk::TraceReader& reader_;
  const uint32_t rank_;
  formats::OutputFile file_;
  std::vector<sdk::TraceCommunicator> communicators_;
  std::vector<uint32_t> groups_;  ///< numbers, by communicator
  uint64_t next_id_ = 0;
  std::vector<uint64_t> ids_;        ///< by node
  std::vector<uint64_t> lane_last_;  ///< by lane: the last node so far
  // Of the present message.
  std::string message_;
  AttributeWriter attributes_{message_, node_field::kAttribute};
  std::string packed_;
  std::vector<uint64_t> needs_;
  std::vector<uint64_t> sorted_;
};

}  // namespace

void export_traces(const sdk::TraceReader& reader, const std::string& folder) {
  GroupNumbers groups;
  for (const uint32_t rank : reader.ranks()) {
    RankExport(reader, rank, groups, folder + "/trace." + std::to_string(rank) + ".et").write();
  }
  if (!groups.empty()) {
    formats::OutputFile file(folder + "/comm_group.json");
    file.write(groups.json());
    file.close();
  }
}

}  // namespace prism::chakra
