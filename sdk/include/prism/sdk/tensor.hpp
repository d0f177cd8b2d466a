// SPDX-License-Identifier: Apache-2.0
/// A tensor that the host asks a plugin to write: on the CPU, without gaps, checked.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "prism/abi/tensor.h"
#include "prism/sdk/error.hpp"

namespace prism::sdk {

/// Bytes of an element of this PRISM_DTYPE_, 0 for OTHER and unknown ones.
constexpr uint64_t element_size(int32_t dtype) noexcept {
  switch (dtype) {
    case PRISM_DTYPE_U8:
    case PRISM_DTYPE_I8:
    case PRISM_DTYPE_BOOL:
    case PRISM_DTYPE_F8_E4M3:
    case PRISM_DTYPE_F8_E5M2:
      return 1;
    case PRISM_DTYPE_I16:
    case PRISM_DTYPE_U16:
    case PRISM_DTYPE_F16:
    case PRISM_DTYPE_BF16:
      return 2;
    case PRISM_DTYPE_I32:
    case PRISM_DTYPE_U32:
    case PRISM_DTYPE_F32:
      return 4;
    case PRISM_DTYPE_I64:
    case PRISM_DTYPE_U64:
    case PRISM_DTYPE_F64:
    case PRISM_DTYPE_C64:
      return 8;
    case PRISM_DTYPE_C128:
      return 16;
    default:
      return 0;
  }
}

/// "f32", "i64", as in the experiment file.
constexpr std::string_view dtype_name(int32_t dtype) noexcept {
  constexpr std::string_view kNames[] = {"other", "u8",      "i8",      "i16", "i32",  "i64",
                                         "f16",   "bf16",    "f32",     "f64", "bool", "c64",
                                         "c128",  "f8_e4m3", "f8_e5m2", "u16", "u32",  "u64"};
  return dtype >= 0 && dtype < static_cast<int32_t>(std::size(kNames)) ? kNames[dtype] : "unknown";
}

/// View of the host's memory; valid during the call that passes it.
class Tensor {
 public:
  /// Throws Error INVALID_ARGUMENT for a view that cannot be right, UNIMPLEMENTED for one that is
  /// not on the CPU or has gaps.
  explicit Tensor(const prism_tensor_t* c) : c_(c) {
    if (c == nullptr || !PRISM_HAS(c, prism_tensor_t, stream)) {
      throw Error(PRISM_STATUS_INVALID_ARGUMENT, "the host gave no tensor");
    }
    if (c->device_type != PRISM_DEVICE_CPU) {
      throw Error(PRISM_STATUS_UNIMPLEMENTED, "the tensor is not in the memory of the CPU");
    }
    const uint64_t size = element_size(c->dtype);
    if (size == 0) {
      throw Error(PRISM_STATUS_INVALID_ARGUMENT,
                  "elements of the unknown type " + std::to_string(c->dtype));
    }
    if (c->ndim > 0 && c->shape == nullptr) {
      throw Error(PRISM_STATUS_INVALID_ARGUMENT, "the tensor has no shape");
    }
    constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
    for (const int64_t extent : shape()) {
      if (extent < 0 || (extent > 0 && elements_ > kMost / size / static_cast<uint64_t>(extent))) {
        throw Error(PRISM_STATUS_INVALID_ARGUMENT, "the shape of the tensor cannot be right");
      }
      elements_ *= static_cast<uint64_t>(extent);
    }
    int64_t step = 1;
    for (uint32_t i = c->ndim; c->strides != nullptr && elements_ > 0 && i-- > 0;) {
      if (c->shape[i] > 1 && c->strides[i] != step) {
        throw Error(PRISM_STATUS_UNIMPLEMENTED, "the tensor has gaps");
      }
      step *= c->shape[i];
    }
    if (c->data == nullptr && elements_ > 0) {
      throw Error(PRISM_STATUS_INVALID_ARGUMENT, "the tensor has no memory");
    }
  }

  int32_t dtype() const { return c_->dtype; }
  std::span<const int64_t> shape() const { return {c_->shape, c_->ndim}; }
  uint64_t elements() const { return elements_; }
  uint64_t bytes() const { return elements_ * element_size(c_->dtype); }
  void* data() const { return c_->data; }

  /// All elements. T must be as wide as one: uint16_t for bf16, float for f32.
  template <typename T>
  std::span<T> as() const {
    if (sizeof(T) != element_size(c_->dtype)) {
      throw Error(PRISM_STATUS_INTERNAL, "elements of type " + std::string(dtype_name(dtype())) +
                                             " taken as " + std::to_string(sizeof(T)) + " bytes");
    }
    return {static_cast<T*>(c_->data), static_cast<size_t>(elements_)};
  }

 private:
  const prism_tensor_t* c_;
  uint64_t elements_ = 1;
};

}  // namespace prism::sdk
