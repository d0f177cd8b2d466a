// SPDX-License-Identifier: Apache-2.0
/// What is known of an operation by its name.
#pragma once

#include <cstdint>
#include <string_view>

namespace prism::microbatch {

/// The ranks that take part in an operation.
enum class Members {
  Own,   ///< nobody else, or ranks that the traces do not show (tensor-parallel ones)
  Data,  ///< of the same stage
  Ends,  ///< the stages that do it (first and last), of the same data-parallel rank
  Everybody,
  Next,  ///< the stage of the next chunk of the model
  Previous,
};

/// Where it stands in a step; the order is that of the step.
enum class Role { Other, Parameters, Compute, Gradients, Norm, Optimizer };

struct Operation {
  std::string_view name;
  int32_t kind;  ///< PRISM_NODE_, PRISM_COMM_
  Members members;
  Role role;
  std::string_view phase;
  bool backward = false;  ///< of a micro-batch
  bool own_lane = false;  ///< runs beside the computation
};

/// The operation of that name; for one that is not known a computation of role Other.
Operation operation_of(std::string_view name);
bool is_known(std::string_view name);

inline bool is_message(const Operation& operation) {
  return operation.members == Members::Next || operation.members == Members::Previous;
}

}  // namespace prism::microbatch
