// SPDX-License-Identifier: Apache-2.0
#include "core/graph/program.hpp"

#include <algorithm>

namespace prism::graph {

const char* to_string(Kind kind) {
  switch (kind) {
    case Kind::Compute:
      return "compute";
    case Kind::AllReduce:
      return "all_reduce";
    case Kind::AllGather:
      return "all_gather";
    case Kind::ReduceScatter:
      return "reduce_scatter";
    case Kind::AllToAll:
      return "all_to_all";
    case Kind::Barrier:
      return "barrier";
    case Kind::Broadcast:
      return "broadcast";
    case Kind::Scatter:
      return "scatter";
    case Kind::Reduce:
      return "reduce";
    case Kind::Gather:
      return "gather";
    case Kind::Send:
      return "send";
    case Kind::Recv:
      return "recv";
    case Kind::Batch:
      return "batch";
    case Kind::Transfer:
      return "transfer";
  }
  return "unknown";
}

bool is_collective(Kind kind) {
  return kind >= Kind::AllReduce && kind <= Kind::Gather;
}

bool has_parts(Kind kind) {
  return kind == Kind::Send || kind == Kind::Recv || kind == Kind::Batch;
}

bool has_root(Kind kind) {
  return kind >= Kind::Broadcast && kind <= Kind::Gather;
}

uint32_t count_alike(const Program& program, const Communicator& communicator) {
  const auto alike = [&](const Communicator& c) {
    return c.ranks == communicator.ranks && c.description == communicator.description &&
           c.backend == communicator.backend;
  };
  return static_cast<uint32_t>(
      std::count_if(program.communicators.begin(), program.communicators.end(), alike) +
      std::count_if(program.others.begin(), program.others.end(), alike));
}

}  // namespace prism::graph
