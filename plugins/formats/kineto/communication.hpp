// SPDX-License-Identifier: Apache-2.0
/// What a trace says of one communication, in the words of PyTorch and NCCL, and in those of the
/// sink.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "prism/abi/comm.h"
#include "prism/abi/draft/format.h"

namespace prism::kineto {

/// A process group as arguments of events name it.
struct Group {
  std::string name;
  std::string description;
  std::string ranks;  ///< "[0, 1]"; of large groups only the first
  int64_t size = -1;
  int64_t first = -1;  ///< ranks first, first + stride, ...
  int64_t stride = -1;
};

class GroupTable {
 public:
  static constexpr size_t kMost = 1 << 16;

  uint32_t index(const Group& group);
  const std::vector<Group>& all() const { return groups_; }

 private:
  std::vector<Group> groups_;
  std::unordered_map<std::string, uint32_t> index_;  // by name
};

/// Kinds are PRISM_COMM_ and PRISM_NODE_BATCH; PRISM_NODE_COMPUTE: not known.
struct Communication {
  uint32_t name = 0;  ///< of the kernel, into Names
  int32_t kind = PRISM_NODE_COMPUTE;
  uint32_t group = 0xffffffff;
  int32_t dtype = PRISM_DTYPE_OTHER;
  int32_t reduction = PRISM_REDUCE_NONE;
  int32_t peer = -1;  ///< as written: a rank of the job, or a position in the group
  int32_t rank = -1;  ///< the argument "Rank": of rooted collectives the root's position
  int64_t input_bytes = -1;
  int64_t output_bytes = -1;
  int64_t sequence = -1;

  bool operator==(const Communication&) const = default;
};

/// Each different one once: a job repeats its communications.
class CommunicationTable {
 public:
  uint32_t index(const Communication& communication);
  const Communication& operator[](uint32_t index) const { return all_[index]; }
  size_t size() const { return all_.size(); }

 private:
  std::vector<Communication> all_;
  std::unordered_multimap<uint64_t, uint32_t> index_;  // by hash
};

/// "allreduce", "_allgather_base", ...: PRISM_COMM_, or PRISM_NODE_COMPUTE.
int32_t kind_of_collective(std::string_view name);
/// "BFloat16", "float", "unsigned char", ...: PRISM_DTYPE_.
int32_t dtype_of(std::string_view name);
/// Whether a kernel is one of NCCL, by its name.
bool is_nccl_kernel(std::string_view name);
/// What the name of a kernel of NCCL says: kind (not of SendRecv, which does several), reduction,
/// element type.
Communication of_kernel_name(std::string_view name);

}  // namespace prism::kineto
