// SPDX-License-Identifier: Apache-2.0
/// Numbers and names of the MLCommons Chakra execution trace: its messages GlobalMetadata, Node,
/// IOInfo and AttributeProto, the attributes that its tools write, and those of Prism.
#pragma once

#include <cstdint>
#include <string_view>

namespace prism::chakra {

namespace metadata_field {
inline constexpr uint32_t kVersion = 1;
inline constexpr uint32_t kAttribute = 2;
}  // namespace metadata_field

namespace node_field {
inline constexpr uint32_t kId = 1;
inline constexpr uint32_t kName = 2;
inline constexpr uint32_t kType = 3;
inline constexpr uint32_t kControlDependencies = 4;
inline constexpr uint32_t kDataDependencies = 5;
inline constexpr uint32_t kStart = 6;     ///< us
inline constexpr uint32_t kDuration = 7;  ///< us
inline constexpr uint32_t kInputs = 8;
inline constexpr uint32_t kAttribute = 10;
}  // namespace node_field

namespace io_field {
inline constexpr uint32_t kValues = 1;
}  // namespace io_field

namespace attribute_field {
inline constexpr uint32_t kName = 1;
inline constexpr uint32_t kFirstValue = 3;  ///< of each type a value, then a list
inline constexpr uint32_t kInt64 = 9;
inline constexpr uint32_t kInt64List = 10;
inline constexpr uint32_t kInt32 = 7;
inline constexpr uint32_t kBool = 27;
inline constexpr uint32_t kString = 29;
inline constexpr uint32_t kStringList = 30;
inline constexpr uint32_t kLastValue = 32;
}  // namespace attribute_field

namespace list_field {
inline constexpr uint32_t kValues = 1;
}  // namespace list_field

enum class NodeType : uint8_t {
  Invalid = 0,
  Metadata = 1,
  MemoryLoad = 2,
  MemoryStore = 3,
  Compute = 4,
  Send = 5,
  Recv = 6,
  Collective = 7,
};

enum class CollectiveType : uint8_t {
  AllReduce = 0,
  Reduce = 1,
  AllGather = 2,
  Gather = 3,
  Scatter = 4,
  Broadcast = 5,
  AllToAll = 6,
  ReduceScatter = 7,
  ReduceScatterBlock = 8,
  Barrier = 9,
};

inline constexpr std::string_view kVersion = "0.0.4";  ///< of the trace; what its tools write

/// Attributes of nodes that the tools of Chakra and ASTRA-sim know.
namespace attribute {
inline constexpr std::string_view kOnCpu = "is_cpu_op";
inline constexpr std::string_view kCollective = "comm_type";
inline constexpr std::string_view kSize = "comm_size";  ///< bytes that the rank puts in
inline constexpr std::string_view kSource = "comm_src";
inline constexpr std::string_view kDestination = "comm_dst";
inline constexpr std::string_view kTag = "comm_tag";
inline constexpr std::string_view kGroup = "pg_name";
inline constexpr std::string_view kDimensions = "involved_dim";
inline constexpr std::string_view kThread = "tid";
inline constexpr std::string_view kStream = "stream";
}  // namespace attribute

/// What Chakra has no word for, in traces that Prism writes: docs/trace-formats.md.
namespace own {
inline constexpr int64_t kRevision = 1;

// Of the metadata.
inline constexpr std::string_view kVersion = "prism.version";
inline constexpr std::string_view kLaneNames = "prism.lane_names";
inline constexpr std::string_view kLaneKinds = "prism.lane_kinds";
inline constexpr std::string_view kCommunicatorNames = "prism.communicator_names";
inline constexpr std::string_view kCommunicatorDescriptions = "prism.communicator_descriptions";
inline constexpr std::string_view kCommunicatorBackends = "prism.communicator_backends";
inline constexpr std::string_view kCommunicatorSizes = "prism.communicator_sizes";
inline constexpr std::string_view kCommunicatorRanks = "prism.communicator_ranks";

// Of nodes.
inline constexpr std::string_view kLane = "prism.lane";
inline constexpr std::string_view kArrival = "prism.arrival_ns";
inline constexpr std::string_view kStart = "prism.start_ns";
inline constexpr std::string_view kEnd = "prism.end_ns";
inline constexpr std::string_view kPhase = "prism.phase";
inline constexpr std::string_view kIteration = "prism.iteration";
inline constexpr std::string_view kMicroBatch = "prism.micro_batch";
inline constexpr std::string_view kChunk = "prism.chunk";
inline constexpr std::string_view kLayer = "prism.layer";
inline constexpr std::string_view kCommunicator = "prism.communicator";
inline constexpr std::string_view kSequence = "prism.sequence";
inline constexpr std::string_view kRoot = "prism.root";
inline constexpr std::string_view kDtype = "prism.dtype";
inline constexpr std::string_view kReduction = "prism.reduction";
inline constexpr std::string_view kInputBytes = "prism.input_bytes";
inline constexpr std::string_view kOutputBytes = "prism.output_bytes";
inline constexpr std::string_view kPeer = "prism.peer";
/// The last dependency is there for the order of the lane only.
inline constexpr std::string_view kLaneOrder = "prism.lane_order";
/// A send or receive that is one of a batch.
inline constexpr std::string_view kPart = "prism.part";
/// A batch; its dependencies are its parts, which have those of the batch.
inline constexpr std::string_view kBatch = "prism.batch";
}  // namespace own

}  // namespace prism::chakra
