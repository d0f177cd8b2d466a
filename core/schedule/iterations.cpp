// SPDX-License-Identifier: Apache-2.0
#include "core/schedule/iterations.hpp"

namespace prism::schedule {

IterationMarks find_iteration_marks(const std::vector<wire::Message>& events) {
  IterationMarks marks;
  marks.first_forward = events.size();
  size_t last_step = events.size();
  for (size_t i = 0; i < events.size(); ++i) {
    const auto* mark = std::get_if<wire::Mark>(&events[i]);
    if (mark == nullptr) {
      continue;
    }
    if (mark->kind == wire::kMarkOptimizerEnd) {
      last_step = i;
    } else if (mark->kind == wire::kMarkForward) {
      if (marks.first_forward == events.size()) {
        marks.first_forward = i;
      }
      if (last_step != events.size()) {
        marks.ends.push_back(last_step);
        last_step = events.size();
      }
    }
  }
  if (last_step != events.size()) {
    marks.ends.push_back(last_step);
  }
  return marks;
}

}  // namespace prism::schedule
