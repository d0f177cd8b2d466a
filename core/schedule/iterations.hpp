// SPDX-License-Identifier: Apache-2.0
/// Where the iterations of a recorded program end (architecture 5).
#pragma once

#include <cstddef>
#include <vector>

#include "prism/wire/agent.hpp"

namespace prism::schedule {

struct IterationMarks {
  /// Index of the first forward of a root module; events.size() when there is none.
  size_t first_forward = 0;
  /// Of each iteration: index of the last optimizer step before the next forward or the end. In a
  /// program that runs no module: of each step that is followed by a communication or the end.
  std::vector<size_t> ends;
};

IterationMarks find_iteration_marks(const std::vector<wire::Message>& events);

}  // namespace prism::schedule
