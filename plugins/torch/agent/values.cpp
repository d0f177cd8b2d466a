// SPDX-License-Identifier: Apache-2.0
#include "plugins/torch/agent/values.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <algorithm>

#include "prism/abi/comm.h"

namespace prism::torch_agent {
namespace {

constexpr double kDeviation = 0.02;
// Long enough to look random to a model, short enough to stay in the cache while it is copied.
constexpr int64_t kFillPeriod = 65536;

/// The same bits as a type that torch can calculate with: arithmetic modulo 2^n knows no sign.
at::Tensor as_signed(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kUInt16:
      return tensor.view(at::kShort);
    case at::kUInt32:
      return tensor.view(at::kInt);
    case at::kUInt64:
      return tensor.view(at::kLong);
    default:
      return tensor;
  }
}

bool is_float8(at::ScalarType type) {
  return c10::isFloatingType(type) && c10::elementSize(type) == 1;
}

}  // namespace

uint64_t bytes_of(const at::Tensor& tensor) {
  return static_cast<uint64_t>(tensor.is_sparse() ? tensor._values().nbytes() : tensor.nbytes());
}

uint64_t bytes_of(at::TensorList tensors) {
  uint64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) {
    bytes += bytes_of(tensor);
  }
  return bytes;
}

uint8_t dtype_of(at::ScalarType type) {
  switch (type) {
    case at::kByte:
      return PRISM_DTYPE_U8;
    case at::kChar:
      return PRISM_DTYPE_I8;
    case at::kShort:
      return PRISM_DTYPE_I16;
    case at::kInt:
      return PRISM_DTYPE_I32;
    case at::kLong:
      return PRISM_DTYPE_I64;
    case at::kHalf:
      return PRISM_DTYPE_F16;
    case at::kBFloat16:
      return PRISM_DTYPE_BF16;
    case at::kFloat:
      return PRISM_DTYPE_F32;
    case at::kDouble:
      return PRISM_DTYPE_F64;
    case at::kBool:
      return PRISM_DTYPE_BOOL;
    case at::kComplexFloat:
      return PRISM_DTYPE_C64;
    case at::kComplexDouble:
      return PRISM_DTYPE_C128;
    case at::kFloat8_e4m3fn:
      return PRISM_DTYPE_F8_E4M3;
    case at::kFloat8_e5m2:
      return PRISM_DTYPE_F8_E5M2;
    case at::kUInt16:
      return PRISM_DTYPE_U16;
    case at::kUInt32:
      return PRISM_DTYPE_U32;
    case at::kUInt64:
      return PRISM_DTYPE_U64;
    default:
      return PRISM_DTYPE_OTHER;
  }
}

uint8_t dtype_of(at::TensorList tensors) {
  if (tensors.empty()) {
    return PRISM_DTYPE_OTHER;
  }
  const at::ScalarType type = tensors[0].scalar_type();
  const bool mixed = std::any_of(tensors.begin(), tensors.end(),
                                 [&](const at::Tensor& t) { return t.scalar_type() != type; });
  return mixed ? PRISM_DTYPE_OTHER : dtype_of(type);
}

uint8_t reduction_of(const c10d::ReduceOp& op) {
  switch (op.op_) {
    case c10d::ReduceOp::SUM:
      return PRISM_REDUCE_SUM;
    case c10d::ReduceOp::AVG:
      return PRISM_REDUCE_AVG;
    case c10d::ReduceOp::PRODUCT:
      return PRISM_REDUCE_PRODUCT;
    case c10d::ReduceOp::MIN:
      return PRISM_REDUCE_MIN;
    case c10d::ReduceOp::MAX:
      return PRISM_REDUCE_MAX;
    case c10d::ReduceOp::BAND:
      return PRISM_REDUCE_BAND;
    case c10d::ReduceOp::BOR:
      return PRISM_REDUCE_BOR;
    case c10d::ReduceOp::BXOR:
      return PRISM_REDUCE_BXOR;
    case c10d::ReduceOp::PREMUL_SUM:
      return PRISM_REDUCE_PREMUL_SUM;
    default:
      return PRISM_REDUCE_NONE;
  }
}

void spread(const at::Tensor& out, const at::Tensor& source) {
  const int64_t wanted = out.numel();
  if (wanted == 0) {
    return;
  }
  if (!out.is_contiguous()) {
    const at::Tensor flat = at::empty({wanted}, out.options());
    spread(flat, source);
    out.copy_(flat.view(out.sizes()));
    return;
  }
  at::Tensor from = source.reshape({-1});
  if (from.is_alias_of(out)) {
    from = from.clone();
  }
  const at::Tensor to = out.view({-1});
  const int64_t period = std::min(wanted, from.numel());
  TORCH_CHECK(period > 0, "a value cannot be made of nothing");
  const int64_t times = wanted / period;
  to.narrow(0, 0, times * period)
      .view({times, period})
      .copy_(from.narrow(0, 0, period).view({1, period}).expand({times, period}));
  const int64_t rest = wanted - times * period;
  if (rest > 0) {
    to.narrow(0, wanted - rest, rest).copy_(from.narrow(0, 0, rest));
  }
}

void reduce_alike(const at::Tensor& tensor, const c10d::ReduceOp& op, int64_t ranks) {
  if (ranks == 1 && op.op_ != c10d::ReduceOp::PREMUL_SUM) {
    return;
  }
  if (is_float8(tensor.scalar_type())) {
    const at::Tensor wide = tensor.to(at::kFloat);
    reduce_alike(wide, op, ranks);
    tensor.copy_(wide);
    return;
  }
  if (tensor.scalar_type() == at::kBool) {
    if (op.op_ == c10d::ReduceOp::BXOR && ranks % 2 == 0) {
      tensor.zero_();
    }
    return;  // sum is or, product is and: alike inputs stay
  }
  switch (op.op_) {
    case c10d::ReduceOp::SUM:
      as_signed(tensor).mul_(ranks);
      break;
    case c10d::ReduceOp::PRODUCT:
      as_signed(tensor).pow_(ranks);
      break;
    case c10d::ReduceOp::BXOR:
      if (ranks % 2 == 0) {
        tensor.zero_();
      }
      break;
    case c10d::ReduceOp::PREMUL_SUM: {
      const auto* factor = static_cast<const c10d::NCCLPreMulSumSupplement*>(op.supplement_.get());
      TORCH_CHECK(factor != nullptr, "PREMUL_SUM without its factor");
      if (factor->tensor_factor.defined()) {
        tensor.mul_(factor->tensor_factor.to(tensor.scalar_type()).reshape({})).mul_(ranks);
      } else {
        tensor.mul_(factor->double_factor * static_cast<double>(ranks));
      }
      break;
    }
    default:
      break;  // average, minimum, maximum, and, or of alike inputs: the input
  }
}

void fill(const at::Tensor& out, uint64_t seed) {
  const at::ScalarType type = out.scalar_type();
  if (out.numel() == 0) {
    return;
  }
  if (!c10::isFloatingType(type) && !c10::isComplexType(type)) {
    out.zero_();
    return;
  }
  // An own generator: the program's random numbers stay what they would be.
  const at::Generator generator = at::detail::createCPUGenerator(seed);
  const at::ScalarType made = c10::isComplexType(type) ? at::kComplexFloat : at::kFloat;
  const at::Tensor numbers =
      at::empty({std::min(out.numel(), kFillPeriod)}, at::TensorOptions().dtype(made));
  numbers.normal_(0.0, kDeviation, generator);
  spread(out, numbers.to(out.options().layout(at::kStrided)));
}

bool written(const at::Tensor& tensor) {
  return !tensor.is_inference() && tensor._version() > 0;
}

}  // namespace prism::torch_agent
