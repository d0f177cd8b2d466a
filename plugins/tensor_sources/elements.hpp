// SPDX-License-Identifier: Apache-2.0
/// Real numbers as elements of a tensor, and the seed of what is drawn.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "prism/sdk/error.hpp"
#include "prism/sdk/random.hpp"
#include "prism/sdk/tensor.hpp"
#include "prism/sdk/tensor_source.hpp"

namespace prism::tensor_sources {

static_assert(std::endian::native == std::endian::little, "elements are copied as they are");

/// The bytes of one element.
struct Element {
  std::array<unsigned char, 16> bytes{};
  size_t size = 0;
};

constexpr bool is_floating(int32_t dtype) {
  switch (dtype) {
    case PRISM_DTYPE_F16:
    case PRISM_DTYPE_BF16:
    case PRISM_DTYPE_F32:
    case PRISM_DTYPE_F64:
    case PRISM_DTYPE_F8_E4M3:
    case PRISM_DTYPE_F8_E5M2:
    case PRISM_DTYPE_C64:
    case PRISM_DTYPE_C128:
      return true;
    default:
      return false;
  }
}

/// The largest value of an integer type (1 of bool), 0 of all other types.
constexpr uint64_t largest_integer(int32_t dtype) {
  switch (dtype) {
    case PRISM_DTYPE_BOOL:
      return 1;
    case PRISM_DTYPE_U8:
      return std::numeric_limits<uint8_t>::max();
    case PRISM_DTYPE_I8:
      return std::numeric_limits<int8_t>::max();
    case PRISM_DTYPE_U16:
      return std::numeric_limits<uint16_t>::max();
    case PRISM_DTYPE_I16:
      return std::numeric_limits<int16_t>::max();
    case PRISM_DTYPE_U32:
      return std::numeric_limits<uint32_t>::max();
    case PRISM_DTYPE_I32:
      return std::numeric_limits<int32_t>::max();
    case PRISM_DTYPE_U64:
      return std::numeric_limits<uint64_t>::max();
    case PRISM_DTYPE_I64:
      return std::numeric_limits<int64_t>::max();
    default:
      return 0;
  }
}

constexpr bool is_signed_integer(int32_t dtype) {
  return dtype == PRISM_DTYPE_I8 || dtype == PRISM_DTYPE_I16 || dtype == PRISM_DTYPE_I32 ||
         dtype == PRISM_DTYPE_I64;
}

namespace detail {

/// A binary floating-point format of at most 16 bits. Without infinities the highest pattern alone
/// is NaN (f8_e4m3, which torch calls e4m3fn).
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  bool infinities;
};

/// `value` rounded to nearest, ties to even. Too large: infinity, or NaN where there is none.
inline uint16_t round_to(SmallFloat format, double value) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const uint32_t top = ((1U << format.exponent_bits) - 1) << format.mantissa_bits;
  const uint32_t too_large = format.infinities ? top : top | ((1U << format.mantissa_bits) - 1);
  const uint32_t sign =
      std::signbit(value) ? 1U << (format.exponent_bits + format.mantissa_bits) : 0;
  if (std::isnan(value)) {
    return static_cast<uint16_t>(sign | too_large |
                                 (format.infinities ? 1U << (format.mantissa_bits - 1) : 0));
  }
  if (std::isinf(value)) {
    return static_cast<uint16_t>(sign | too_large);
  }
  if (value == 0) {
    return static_cast<uint16_t>(sign);
  }
  int exponent = 0;
  std::frexp(value, &exponent);
  exponent = std::max(exponent - 1, 1 - bias);  // below the smallest normal number: subnormal
  if (exponent > bias + 1) {
    return static_cast<uint16_t>(sign | too_large);
  }
  const double units =
      std::nearbyint(std::ldexp(std::fabs(value), format.mantissa_bits - exponent));
  // A normal number has the hidden bit in `units`, which moves the exponent up by one.
  const uint32_t pattern = (static_cast<uint32_t>(exponent + bias - 1) << format.mantissa_bits) +
                           static_cast<uint32_t>(units);
  return static_cast<uint16_t>(sign | std::min(pattern, too_large));
}

inline constexpr SmallFloat kF16{5, 10, true};
inline constexpr SmallFloat kBf16{8, 7, true};
inline constexpr SmallFloat kF8E4m3{4, 3, false};
inline constexpr SmallFloat kF8E5m2{5, 2, true};

template <typename T>
Element bytes_of(T value) {
  Element element;
  element.size = sizeof value;
  std::memcpy(element.bytes.data(), &value, sizeof value);
  return element;
}

}  // namespace detail

/// `value` as an element of a floating or complex type, rounded to nearest; the imaginary part is
/// 0.
inline Element floating_element(double value, int32_t dtype) {
  using detail::bytes_of;
  using detail::round_to;
  switch (dtype) {
    case PRISM_DTYPE_F16:
      return bytes_of(round_to(detail::kF16, value));
    case PRISM_DTYPE_BF16:
      return bytes_of(round_to(detail::kBf16, value));
    case PRISM_DTYPE_F8_E4M3:
      return bytes_of(static_cast<uint8_t>(round_to(detail::kF8E4m3, value)));
    case PRISM_DTYPE_F8_E5M2:
      return bytes_of(static_cast<uint8_t>(round_to(detail::kF8E5m2, value)));
    case PRISM_DTYPE_F32:
      return bytes_of(static_cast<float>(value));
    case PRISM_DTYPE_F64:
      return bytes_of(value);
    case PRISM_DTYPE_C64:
      return bytes_of(std::array<float, 2>{static_cast<float>(value), 0});
    case PRISM_DTYPE_C128:
      return bytes_of(std::array<double, 2>{value, 0});
    default:
      throw sdk::Error(PRISM_STATUS_INTERNAL, "no floating type");
  }
}

/// A whole number as an element of an integer type; its low bits are those of two's complement.
inline Element integer_element(uint64_t value, int32_t dtype) {
  Element element = detail::bytes_of(value);
  element.size = static_cast<size_t>(sdk::element_size(dtype));
  return element;
}

/// Writes one element over and over.
inline void repeat(const Element& element, const sdk::Tensor& out) {
  auto* to = static_cast<unsigned char*>(out.data());
  for (uint64_t i = 0; i < out.elements(); ++i, to += element.size) {
    std::memcpy(to, element.bytes.data(), element.size);
  }
}

/// "f32", and what was asked for: the end of messages about a type.
inline std::string type_text(const sdk::Tensor& out) {
  return "'" + std::string(sdk::dtype_name(out.dtype())) + "'";
}

/// A seed of everything that the values depend on. Ranks that must get the same (the result of an
/// all-reduce, what one peer sends to all) have the same seed.
inline uint64_t seed_of(const sdk::TensorRequest& request) {
  const bool same_for_all = request.kind == PRISM_COMM_ALL_REDUCE ||
                            request.kind == PRISM_COMM_ALL_GATHER ||
                            request.kind == PRISM_COMM_BROADCAST;
  uint64_t group = request.group.size();
  for (const char c : request.group) {
    group = sdk::mix({group, static_cast<unsigned char>(c)});
  }
  return sdk::mix({request.seed, group, request.call, same_for_all ? 0 : uint64_t{request.rank} + 1,
                   request.peer ? uint64_t{*request.peer} + 1 : 0,
                   static_cast<uint64_t>(request.kind), request.part});
}

}  // namespace prism::tensor_sources
