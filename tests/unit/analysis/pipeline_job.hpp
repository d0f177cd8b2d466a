// SPDX-License-Identifier: Apache-2.0
/// A small pipeline: all forwards, then all backwards, then an all-reduce between replicas. Sends
/// do not wait and take no time, so that the textbook's recurrence gives the iteration.
#pragma once

#include <string>
#include <vector>

#include "core/graph/job.hpp"

namespace prism::analysis::test {

struct PipelineSpec {
  uint32_t stages = 3;
  uint32_t replicas = 2;
  uint32_t micro_batches = 4;
  std::vector<DurationNs> forward;  ///< by stage; a backward takes twice as long
  std::string pipeline = "pp";      ///< description of the communicators
  std::string data_parallel = "dp";
};

/// Rank = stage * replicas + replica, each a class of its own.
graph::Job pipeline_job(const PipelineSpec& spec);

/// Its iteration by the recurrence, without the all-reduce, which takes no time.
DurationNs pipeline_time(const PipelineSpec& spec);

}  // namespace prism::analysis::test
