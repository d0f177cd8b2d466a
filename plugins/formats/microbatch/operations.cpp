// SPDX-License-Identifier: Apache-2.0
#include "operations.hpp"

#include <algorithm>
#include <array>

#include "prism/abi/draft/format.h"

namespace prism::microbatch {
namespace {

constexpr int32_t kCompute = PRISM_NODE_COMPUTE;
constexpr int32_t kReduce = PRISM_COMM_ALL_REDUCE;
constexpr int32_t kGather = PRISM_COMM_ALL_GATHER;
constexpr int32_t kScatter = PRISM_COMM_REDUCE_SCATTER;
constexpr int32_t kSend = PRISM_COMM_SEND;
constexpr int32_t kRecv = PRISM_COMM_RECV;

// Who takes part was found from when operations end on the ranks of a real job: members end within
// 0.1 ms of each other (the norm: 1 ms, its computation included), others do not.
constexpr std::array kOperations{
    Operation{"forward-compute", kCompute, Members::Own, Role::Compute, "forward"},
    Operation{"backward-compute", kCompute, Members::Own, Role::Compute, "backward", true},
    Operation{"forward-send", kSend, Members::Next, Role::Compute, "forward", false, true},
    Operation{"forward-recv", kRecv, Members::Previous, Role::Compute, "forward", false, true},
    Operation{"backward-send", kSend, Members::Previous, Role::Compute, "backward", true, true},
    Operation{"backward-recv", kRecv, Members::Next, Role::Compute, "backward", true, true},
    Operation{"params-all-gather", kGather, Members::Data, Role::Parameters, "parameters", false,
              true},
    Operation{"grads-reduce-scatter", kScatter, Members::Data, Role::Gradients, "gradients", false,
              true},
    Operation{"separate-grads-all-reduce", kReduce, Members::Data, Role::Gradients, "gradients"},
    Operation{"embedding-grads-all-reduce", kReduce, Members::Ends, Role::Gradients, "gradients"},
    // Of the tensor-parallel group.
    Operation{"layernorm-grads-all-reduce", kCompute, Members::Own, Role::Gradients, "gradients"},
    Operation{"optimizer-clip-main-grad", kReduce, Members::Everybody, Role::Norm, "optimizer"},
    Operation{"optimizer", kCompute, Members::Own, Role::Optimizer, "optimizer"},
    // A note of when the garbage collector ran: nothing waits for it.
    Operation{"gc", kCompute, Members::Own, Role::Other, ""},
};

const Operation* find(std::string_view name) {
  const auto known = std::find_if(kOperations.begin(), kOperations.end(),
                                  [&](const Operation& o) { return o.name == name; });
  return known == kOperations.end() ? nullptr : &*known;
}

}  // namespace

Operation operation_of(std::string_view name) {
  const Operation* known = find(name);
  return known != nullptr ? *known : Operation{name, kCompute, Members::Own, Role::Other, ""};
}

bool is_known(std::string_view name) {
  return find(name) != nullptr;
}

}  // namespace prism::microbatch
