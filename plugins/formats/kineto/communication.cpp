// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/kineto/communication.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "prism/sdk/error.hpp"

namespace prism::kineto {
namespace {

using Word = std::pair<std::string_view, int32_t>;

/// Small letters and digits alone.
std::string plain(std::string_view name) {
  std::string result;
  for (const char c : name.substr(0, 64)) {
    if (c >= 'A' && c <= 'Z') {
      result += static_cast<char>(c - 'A' + 'a');
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      result += c;
    }
  }
  return result;
}

uint64_t hash(const Communication& c) {
  uint64_t result = 0;
  for (const int64_t field :
       {int64_t{c.name}, int64_t{c.kind}, int64_t{c.group}, int64_t{c.dtype}, int64_t{c.reduction},
        int64_t{c.peer}, int64_t{c.rank}, c.input_bytes, c.output_bytes, c.sequence}) {
    result = (result ^ static_cast<uint64_t>(field)) * 0x9e3779b97f4a7c15ULL;
    result ^= result >> 29;
  }
  return result;
}

}  // namespace

uint32_t GroupTable::index(const Group& group) {
  const auto [found, fresh] = index_.try_emplace(group.name, static_cast<uint32_t>(groups_.size()));
  if (fresh) {
    if (groups_.size() == kMost) {
      throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                       "the trace has more than " + std::to_string(kMost) +
                           " process groups, expected those of one rank");
    }
    groups_.push_back(group);
    return found->second;
  }
  // Waits name the group, but not its ranks.
  Group& known = groups_[found->second];
  if (known.size < group.size) {
    known.size = group.size;
    known.ranks = group.ranks;
  }
  if (known.first < 0) {
    known.first = group.first;
    known.stride = group.stride;
  }
  return found->second;
}

uint32_t CommunicationTable::index(const Communication& communication) {
  const uint64_t key = hash(communication);
  const auto [begin, end] = index_.equal_range(key);
  for (auto at = begin; at != end; ++at) {
    if (all_[at->second] == communication) {
      return at->second;
    }
  }
  all_.push_back(communication);
  const auto number = static_cast<uint32_t>(all_.size() - 1);
  index_.emplace(key, number);
  return number;
}

int32_t kind_of_collective(std::string_view name) {
  static constexpr Word kWords[] = {{"allreduce", PRISM_COMM_ALL_REDUCE},
                                    {"allgather", PRISM_COMM_ALL_GATHER},
                                    {"reducescatter", PRISM_COMM_REDUCE_SCATTER},
                                    {"alltoall", PRISM_COMM_ALL_TO_ALL},
                                    {"barrier", PRISM_COMM_BARRIER},
                                    {"broadcast", PRISM_COMM_BROADCAST},
                                    {"scatter", PRISM_COMM_SCATTER},
                                    {"reduce", PRISM_COMM_REDUCE},
                                    {"gather", PRISM_COMM_GATHER},
                                    {"send", PRISM_COMM_SEND},
                                    {"recv", PRISM_COMM_RECV}};
  const std::string text = plain(name);
  for (const auto& [word, kind] : kWords) {
    if (text.starts_with(word)) {
      return kind;
    }
  }
  return PRISM_NODE_COMPUTE;
}

int32_t dtype_of(std::string_view name) {
  static constexpr Word kWords[] = {{"float", PRISM_DTYPE_F32},
                                    {"bfloat16", PRISM_DTYPE_BF16},
                                    {"half", PRISM_DTYPE_F16},
                                    {"double", PRISM_DTYPE_F64},
                                    {"long", PRISM_DTYPE_I64},
                                    {"longint", PRISM_DTYPE_I64},
                                    {"int", PRISM_DTYPE_I32},
                                    {"short", PRISM_DTYPE_I16},
                                    {"byte", PRISM_DTYPE_U8},
                                    {"unsignedchar", PRISM_DTYPE_U8},
                                    {"char", PRISM_DTYPE_I8},
                                    {"signedchar", PRISM_DTYPE_I8},
                                    {"bool", PRISM_DTYPE_BOOL},
                                    {"float8e4m3fn", PRISM_DTYPE_F8_E4M3},
                                    {"float8e5m2", PRISM_DTYPE_F8_E5M2},
                                    {"complexfloat", PRISM_DTYPE_C64},
                                    {"complexdouble", PRISM_DTYPE_C128},
                                    {"uint16", PRISM_DTYPE_U16},
                                    {"uint32", PRISM_DTYPE_U32},
                                    {"uint64", PRISM_DTYPE_U64}};
  std::string text = plain(name.starts_with("c10::") ? name.substr(5) : name);
  for (const auto& [word, dtype] : kWords) {
    if (text == word) {
      return dtype;
    }
  }
  return PRISM_DTYPE_OTHER;
}

bool is_nccl_kernel(std::string_view name) {
  return name.starts_with("nccl") && name.find("Kernel") < 16;
}

Communication of_kernel_name(std::string_view name) {
  static constexpr Word kKinds[] = {{"AllReduce", PRISM_COMM_ALL_REDUCE},
                                    {"AllGather", PRISM_COMM_ALL_GATHER},
                                    {"ReduceScatter", PRISM_COMM_REDUCE_SCATTER},
                                    {"Broadcast", PRISM_COMM_BROADCAST},
                                    {"Reduce", PRISM_COMM_REDUCE},
                                    {"SendRecv", PRISM_NODE_COMPUTE}};
  static constexpr Word kReductions[] = {
      {"Sum", PRISM_REDUCE_SUM},       {"Max", PRISM_REDUCE_MAX},
      {"Min", PRISM_REDUCE_MIN},       {"Prod", PRISM_REDUCE_PRODUCT},
      {"MinMax", PRISM_REDUCE_NONE},   {"PreMulSum", PRISM_REDUCE_PREMUL_SUM},
      {"SumPostDiv", PRISM_REDUCE_AVG}};
  static constexpr Word kTypes[] = {{"f32", PRISM_DTYPE_F32},       {"float", PRISM_DTYPE_F32},
                                    {"bf16", PRISM_DTYPE_BF16},     {"f16", PRISM_DTYPE_F16},
                                    {"half", PRISM_DTYPE_F16},      {"f64", PRISM_DTYPE_F64},
                                    {"double", PRISM_DTYPE_F64},    {"u8", PRISM_DTYPE_U8},
                                    {"i8", PRISM_DTYPE_I8},         {"u32", PRISM_DTYPE_U32},
                                    {"i32", PRISM_DTYPE_I32},       {"u64", PRISM_DTYPE_U64},
                                    {"i64", PRISM_DTYPE_I64},       {"f8e4m3", PRISM_DTYPE_F8_E4M3},
                                    {"f8e5m2", PRISM_DTYPE_F8_E5M2}};
  Communication result;
  name = name.substr(0, name.find('('));
  bool first = true;
  while (!name.empty()) {
    const size_t end = std::min(name.find('_'), name.size());
    const std::string_view part = name.substr(0, end);
    name.remove_prefix(std::min(end + 1, name.size()));
    for (const auto& [word, kind] : kKinds) {
      if (!first && part == word) {
        result.kind = kind;
      }
    }
    for (const auto& [word, reduction] : kReductions) {
      if (part == word) {
        result.reduction = reduction;
      }
    }
    for (const auto& [word, dtype] : kTypes) {
      if (part == word) {
        result.dtype = dtype;
      }
    }
    first = false;
  }
  if (result.kind != PRISM_COMM_ALL_REDUCE && result.kind != PRISM_COMM_REDUCE_SCATTER &&
      result.kind != PRISM_COMM_REDUCE) {
    result.reduction = PRISM_REDUCE_NONE;  // old kernels say "Sum_int8_t" whatever they do
    result.dtype = PRISM_DTYPE_OTHER;
  }
  return result;
}

}  // namespace prism::kineto
