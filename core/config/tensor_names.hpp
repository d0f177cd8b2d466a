// SPDX-License-Identifier: Apache-2.0
/// Names of communications and element types in the experiment file.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "prism/abi/comm.h"

namespace prism::config {

struct NamedNumber {
  std::string_view name;
  uint8_t number;
};

/// Communications in which a rank receives something.
inline constexpr std::array<NamedNumber, 9> kReceivingOperations = {
    {{"all_reduce", PRISM_COMM_ALL_REDUCE},
     {"all_gather", PRISM_COMM_ALL_GATHER},
     {"reduce_scatter", PRISM_COMM_REDUCE_SCATTER},
     {"all_to_all", PRISM_COMM_ALL_TO_ALL},
     {"broadcast", PRISM_COMM_BROADCAST},
     {"scatter", PRISM_COMM_SCATTER},
     {"reduce", PRISM_COMM_REDUCE},
     {"gather", PRISM_COMM_GATHER},
     {"recv", PRISM_COMM_RECV}}};

/// As torch names them, and as the plugin ABI does.
inline constexpr std::array<NamedNumber, 33> kElementTypes = {
    {{"uint8", PRISM_DTYPE_U8},
     {"int8", PRISM_DTYPE_I8},
     {"int16", PRISM_DTYPE_I16},
     {"int32", PRISM_DTYPE_I32},
     {"int64", PRISM_DTYPE_I64},
     {"float16", PRISM_DTYPE_F16},
     {"bfloat16", PRISM_DTYPE_BF16},
     {"float32", PRISM_DTYPE_F32},
     {"float64", PRISM_DTYPE_F64},
     {"bool", PRISM_DTYPE_BOOL},
     {"complex64", PRISM_DTYPE_C64},
     {"complex128", PRISM_DTYPE_C128},
     {"float8_e4m3fn", PRISM_DTYPE_F8_E4M3},
     {"float8_e5m2", PRISM_DTYPE_F8_E5M2},
     {"uint16", PRISM_DTYPE_U16},
     {"uint32", PRISM_DTYPE_U32},
     {"uint64", PRISM_DTYPE_U64},
     {"u8", PRISM_DTYPE_U8},
     {"i8", PRISM_DTYPE_I8},
     {"i16", PRISM_DTYPE_I16},
     {"i32", PRISM_DTYPE_I32},
     {"i64", PRISM_DTYPE_I64},
     {"f16", PRISM_DTYPE_F16},
     {"bf16", PRISM_DTYPE_BF16},
     {"f32", PRISM_DTYPE_F32},
     {"f64", PRISM_DTYPE_F64},
     {"c64", PRISM_DTYPE_C64},
     {"c128", PRISM_DTYPE_C128},
     {"f8_e4m3", PRISM_DTYPE_F8_E4M3},
     {"f8_e5m2", PRISM_DTYPE_F8_E5M2},
     {"u16", PRISM_DTYPE_U16},
     {"u32", PRISM_DTYPE_U32},
     {"u64", PRISM_DTYPE_U64}}};

/// The names alone, for a row's choices.
template <size_t N>
constexpr std::array<std::string_view, N> names_of(const std::array<NamedNumber, N>& named) {
  std::array<std::string_view, N> names{};
  std::transform(named.begin(), named.end(), names.begin(),
                 [](const NamedNumber& one) { return one.name; });
  return names;
}

template <size_t N>
constexpr std::optional<uint8_t> number_of(const std::array<NamedNumber, N>& named,
                                           std::string_view name) {
  for (const NamedNumber& one : named) {
    if (one.name == name) {
      return one.number;
    }
  }
  return std::nullopt;
}

}  // namespace prism::config
