// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "prism/abi/tensor_source.h"
#include "sdk/conformance/interface.hpp"

namespace prism::conformance {

/// A request for a tensor together with what is to be filled.
struct FillCase {
  prism_tensor_request_t request;
  int32_t dtype;
  std::vector<int64_t> shape;

  uint64_t elements() const;
  uint64_t bytes() const;
  /// A tensor on the CPU without gaps; borrows the shape.
  prism_tensor_t tensor(void* data) const;
  /// "fill() of f32[3, 5], ..."
  std::string describe() const;
};

/// Requests as a job makes them: all dtypes, several shapes.
std::vector<FillCase> fill_cases(uint64_t seed);

extern const Kind kTensorSourceKind;

}  // namespace prism::conformance
