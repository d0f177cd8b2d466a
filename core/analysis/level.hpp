// SPDX-License-Identifier: Apache-2.0
/// What selected nodes would take at the median of their peers.
#pragma once

#include <cstdint>
#include <memory>

#include "core/analysis/selector.hpp"
#include "core/graph/times.hpp"

namespace prism::analysis {

/// Who the peers of a node are. Of these, those at ranks that the words rank, stage and replica do
/// not select; where all are selected, all, the node itself included.
enum class Peers : uint8_t {
  /// The same node of the ranks that are like its own (Layout).
  Replicas,
  /// What the ranks of other stages compute on lanes of the same kind in the same phase,
  /// micro-batch,
  /// chunk and iteration: the sum over it is what is compared, and each node is scaled by the same
  /// factor, so that the sum becomes the median. Computation only.
  Stages,
  /// Everything of the same kind and shape in the job: of communications kind, name, phase, sizes
  /// and size of the group; of messages kind, element type, size and size of the group; of
  /// computations name, phase and kind of lane. No gaps.
  Calls,
};

/// The times of selected nodes at the median of their peers.
class Level {
 public:
  virtual ~Level() = default;
  Level() = default;
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

  /// Sets in `columns`, which has what the rank takes, what `marks` names and has peers. Returns
  /// how much that is. Ranks of one class and of equal marks and times get the same.
  virtual uint64_t apply(Rank rank, const Marks& marks, graph::RankTimes& columns) = 0;
};

/// All must outlive it. Not thread-safe.
std::unique_ptr<Level> make_level(Peers peers, const Subject& subject, const graph::Times& times,
                                  const Selection& selection);

}  // namespace prism::analysis
