// SPDX-License-Identifier: Apache-2.0
#include "job.hpp"

#include <utility>

namespace prism::microbatch {

std::string Job::rank_and_step(uint32_t worker, int32_t iteration) const {
  return "rank " + std::to_string(trace.workers[worker].number) + ", step " +
         std::to_string(steps[static_cast<size_t>(iteration)]);
}

Job make_job(Trace trace) {
  Job job;
  job.trace = std::move(trace);
  for (const std::string& name : job.trace.operations) {
    job.operations.push_back(operation_of(name));
    if (!is_known(name)) {
      job.notes.push_back("operation '" + name +
                          "' is not known: taken as a computation of its rank alone");
    }
  }
  make_nodes(job);
  label_messages(job);
  make_groups(job);
  add_dependencies(job);
  if (job.trace.waits_removed()) {
    estimate_arrivals(job);
  }
  return job;
}

}  // namespace prism::microbatch
