// SPDX-License-Identifier: Apache-2.0
/// Which communication each kernel of NCCL is: from its own arguments, from the operation around
/// the call that launched it, or from the operations that were put into one launch ("coalesced").
#pragma once

#include <unordered_map>
#include <vector>

#include "plugins/formats/kineto/timeline.hpp"

namespace prism::kineto {

struct Operations {
  /// Of a kernel that sends and receives: into RankTrace::communications.
  std::unordered_map<uint32_t, std::vector<uint32_t>> parts;
};

/// Sets `detail` of every kernel of NCCL to all that is known of it, and `correlation` of every
/// collective to its number in its group, in the order in which they were launched.
Operations find_operations(Timeline& timeline);

bool is_point_to_point(int32_t kind);

}  // namespace prism::kineto
