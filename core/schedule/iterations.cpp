// SPDX-License-Identifier: Apache-2.0
#include "core/schedule/iterations.hpp"

namespace prism::schedule {

namespace {

std::vector<size_t> steps_before_communication(const std::vector<wire::Message>& events) {
  std::vector<size_t> ends;
  size_t last_step = events.size();
  for (size_t i = 0; i < events.size(); ++i) {
    const auto* mark = std::get_if<wire::Mark>(&events[i]);
    if (mark != nullptr && mark->kind == wire::kMarkOptimizerEnd) {
      last_step = i;
    } else if (last_step != events.size() && (std::holds_alternative<wire::Op>(events[i]) ||
                                              std::holds_alternative<wire::Bye>(events[i]))) {
      ends.push_back(last_step);
      last_step = events.size();
    }
  }
  return ends;
}

}  // namespace

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
  if (marks.first_forward == events.size()) {
    marks.ends = steps_before_communication(events);
  }
  return marks;
}

}  // namespace prism::schedule
