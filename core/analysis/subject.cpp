// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/subject.hpp"

#include "core/analysis/counterparts.hpp"

namespace prism::analysis {

Subject::Subject(const graph::Job& job) : job_(job), layout_(layout_of(job)) {
  leading_nodes_.resize(job.classes.size());
  for (uint32_t c = 0; c < job.classes.size(); ++c) {
    const uint32_t leader = leading_class(job.classes[c].members.front());
    if (leader != c) {
      leading_nodes_[c] = counterparts(job.classes[leader].program, job.classes[c].program);
    }
  }
}

}  // namespace prism::analysis
