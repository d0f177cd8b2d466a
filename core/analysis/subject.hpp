// SPDX-License-Identifier: Apache-2.0
/// A job as the analyses see it: with its layout, and with the nodes of like ranks put together.
#pragma once

#include <cstdint>
#include <vector>

#include "core/analysis/layout.hpp"
#include "core/graph/job.hpp"
#include "core/graph/times.hpp"

namespace prism::analysis {

/// Immutable; any thread. Memory: 4 bytes per node of the classes that have like ones.
class Subject {
 public:
  /// `job` must outlive it.
  explicit Subject(const graph::Job& job);

  const graph::Job& job() const { return job_; }
  const Layout& layout() const { return layout_; }
  /// The class that stands for all like ranks of `rank`: that of the lowest of them.
  uint32_t leading_class(Rank rank) const {
    return job_.class_of[layout_.like[layout_.like_of[rank]].front()];
  }
  /// The node of the leading class that is the same work as `node` of `rank`; kNone: there is none.
  uint32_t leading_node(Rank rank, uint32_t node) const {
    const std::vector<uint32_t>& nodes = leading_nodes_[job_.class_of[rank]];
    return nodes.empty() ? node : nodes[node];
  }

 private:
  const graph::Job& job_;
  Layout layout_;
  std::vector<std::vector<uint32_t>> leading_nodes_;  ///< by class; empty: it leads
};

/// One run of a job: an iteration that was observed, or a repeat of a recording.
struct Run {
  const Subject* subject = nullptr;
  uint32_t iteration = 0;         ///< number of the job's first iteration
  std::vector<uint32_t> counted;  ///< iterations of the job that are looked at; not empty
  graph::Times times;
};

}  // namespace prism::analysis
