// SPDX-License-Identifier: Apache-2.0
#include "core/graph/describe.hpp"

#include <array>

namespace prism::graph {
namespace {

constexpr std::array<const char*, 18> kDtypes = {
    "other",      "uint8",       "int8",        "int16",   "int32",  "int64",
    "float16",    "bfloat16",    "float32",     "float64", "bool",   "complex64",
    "complex128", "float8_e4m3", "float8_e5m2", "uint16",  "uint32", "uint64"};
constexpr std::array<const char*, 10> kReductions = {
    "none", "sum", "avg", "min", "max", "product", "band", "bor", "bxor", "premul_sum"};

std::string quoted(const Communicator& communicator) {
  std::string text = "'";
  text += communicator.description.empty() ? communicator.name : communicator.description;
  return text += "'";
}

/// "rank 5": the member at a group position; positions may be anything here, since programs that
/// failed their checks are described too.
std::string member(const Communicator& communicator, int32_t position) {
  const auto index = static_cast<size_t>(position);
  return position >= 0 && index < communicator.ranks.size()
             ? "rank " + std::to_string(communicator.ranks[index])
             : "group position " + std::to_string(position);
}

std::string part_in_words(const Part& part, const std::string& peer,
                          const Communicator& communicator) {
  return std::string(to_string(part.kind)) + " of " + std::to_string(part.bytes) + " bytes " +
         dtype_name(part.dtype) + (part.kind == Kind::Send ? " to " : " from ") + peer + ", tag " +
         std::to_string(part.tag) + ", on " + quoted(communicator);
}

std::string part_in_words(const Program& program, const Part& part) {
  const Communicator& communicator = program.communicators[part.communicator];
  const std::string peer = part.peer == kAnySource ? "any rank" : member(communicator, part.peer);
  return part_in_words(part, peer, communicator);
}

std::string place(const Program& program, uint32_t id) {
  return "lane " + program.lanes[program.nodes[id].lane].name + ", node " + std::to_string(id) +
         " (";
}

std::string collective_in_words(const Node& node, const Communicator& communicator) {
  std::string text = std::string(to_string(node.kind)) + " " + std::to_string(node.sequence) +
                     " on " + quoted(communicator);
  if (node.kind == Kind::Barrier) {
    return text;
  }
  text += std::string(", ") + dtype_name(node.dtype);
  if (node.reduction != PRISM_REDUCE_NONE) {
    text += std::string(" ") + reduction_name(node.reduction);
  }
  if (has_root(node.kind)) {
    text += ", root " + member(communicator, node.root);
  }
  text += ", " + std::to_string(node.input_bytes);
  if (node.output_bytes != node.input_bytes) {
    text += " -> " + std::to_string(node.output_bytes);
  }
  return text + " bytes";
}

}  // namespace

const char* dtype_name(uint8_t dtype) {
  return kDtypes[dtype < kDtypes.size() ? dtype : 0];
}

const char* reduction_name(uint8_t reduction) {
  return reduction < kReductions.size() ? kReductions[reduction] : "unknown";
}

std::string ranks_in_words(const std::vector<Rank>& ranks) {
  if (ranks.empty()) {
    return "none";
  }
  const auto text = [](Rank rank) { return std::to_string(rank); };
  bool consecutive = true;
  for (size_t i = 1; i < ranks.size(); ++i) {
    consecutive &= ranks[i] == ranks[i - 1] + 1;
  }
  if (consecutive && ranks.size() > 2) {
    return text(ranks.front()) + "-" + text(ranks.back());
  }
  constexpr size_t kShown = 8;
  std::string list;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (ranks.size() > kShown && i == 3) {
      return list + ",...," + text(ranks.back()) + " (" + std::to_string(ranks.size()) + " ranks)";
    }
    list += i == 0 ? "" : ",";
    list += text(ranks[i]);
  }
  return list;
}

std::string describe(const Communicator& communicator) {
  return quoted(communicator) + " (" + communicator.backend + ", ranks " +
         ranks_in_words(communicator.ranks) + ")";
}

std::string describe_node(const Program& program, uint32_t id) {
  const Node& node = program.nodes[id];
  std::string text = place(program, id);
  if (is_collective(node.kind)) {
    text += collective_in_words(node, program.communicators[node.communicator]);
  } else if (node.kind == Kind::Batch) {
    text += "batch of " + std::to_string(node.part_count);
  } else if (has_parts(node.kind)) {
    text += part_in_words(program, program.parts[node.first_part]);
  } else if (node.kind == Kind::Transfer) {
    text += "transfer of node " + std::to_string(node.of);
  } else {
    text += to_string(node.kind);
  }
  return text + ")";
}

std::string describe_part(const Job& job, Rank rank, const Part& part) {
  const std::string peer =
      part.peer == kAnySource ? "any rank" : "rank " + std::to_string(job.peer(rank, part));
  const uint32_t communicator = job.communicator(rank, part.communicator);
  return part_in_words(part, peer,
                       communicator == kNone ? job.program(rank).communicators[part.communicator]
                                             : job.communicators[communicator]);
}

std::string describe_node(const Job& job, Rank rank, uint32_t id) {
  const Program& program = job.program(rank);
  const Node& node = program.nodes[id];
  const std::string who = "rank " + std::to_string(rank) + ", ";
  if (is_collective(node.kind)) {
    const uint32_t communicator = job.communicator(rank, node.communicator);
    if (communicator != kNone) {
      return who + place(program, id) + collective_in_words(node, job.communicators[communicator]) +
             ")";
    }
  }
  if (node.kind == Kind::Send || node.kind == Kind::Recv) {
    return who + place(program, id) + describe_part(job, rank, program.parts[node.first_part]) +
           ")";
  }
  return who + describe_node(program, id);
}

}  // namespace prism::graph
