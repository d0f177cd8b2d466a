// SPDX-License-Identifier: Apache-2.0
/// Values that no peer has sent: echoes of this rank's own data, and fills.
///
/// All functions write below autograd and below the version counters, as a communication library
/// does: it writes to memory and torch does not see it. Strided outputs are written right.
#pragma once

#include <cstdint>

#include "plugins/torch/agent/torch_version.hpp"

namespace prism::torch_agent {

/// While one lives, tensor operations of this thread are invisible to autograd, to version counters
/// and to Python's dispatch modes.
class Unseen {
 private:
  at::AutoDispatchBelowADInplaceOrView below_;
  c10::impl::ExcludeDispatchKeyGuard python_{
      c10::DispatchKeySet({c10::DispatchKey::Python, c10::DispatchKey::PythonTLSSnapshot})};
};

uint64_t bytes_of(const at::Tensor& tensor);
uint64_t bytes_of(at::TensorList tensors);

/// PRISM_DTYPE_; OTHER where the protocol has no number.
uint8_t dtype_of(at::ScalarType type);
/// The same of all tensors; OTHER where the list is empty or mixed or the protocol has no number.
uint8_t dtype_of(at::TensorList tensors);

/// PRISM_REDUCE_.
uint8_t reduction_of(const c10d::ReduceOp& op);

/// Writes the elements of `source` to `out` in order: cut where there are too many, again from the
/// start where there are too few. `out` may share memory with `source`; `source` must not be empty
/// unless `out` is.
void spread(const at::Tensor& out, const at::Tensor& source);

/// Turns one rank's contribution into the result of a reduction over `ranks` ranks that all
/// contribute the same.
void reduce_alike(const at::Tensor& tensor, const c10d::ReduceOp& op, int64_t ranks);

/// Floating point: normal numbers of deviation 0.02, a function of `seed`; all else: zero.
void fill(const at::Tensor& out, uint64_t seed);

/// Whether the program has written to the tensor: its version counter says so. A tensor that was
/// made in one go (torch.zeros, a result) has version 0 and looks like one from torch.empty.
bool written(const at::Tensor& tensor);

}  // namespace prism::torch_agent
