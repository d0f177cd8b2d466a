// SPDX-License-Identifier: Apache-2.0
/// How the threads of a rank take turns, and what they are doing.
#pragma once

#include <unordered_map>
#include <vector>

#include "plugins/formats/kineto/timeline.hpp"

namespace prism::kineto {

/// The thread that calls backward() stands still while autograd's thread runs, and goes on when
/// that is done: where calls of the one follow calls of the other, the work was handed over. Only
/// between autograd's threads and the thread that launches most of the others'. Record of the first
/// call
/// -> lane that it was handed over from.
using Handovers = std::unordered_map<uint32_t, uint32_t>;
Handovers find_handovers(const Timeline& timeline);

/// Phase and micro-batch of a moment of a thread: the innermost annotation; else backward on
/// autograd's threads; else forward between two handovers or optimizer steps of the thread when
/// operations with a backward began there.
class Phases {
 public:
  Phases(const Timeline& timeline, const Handovers& handovers);

  struct Label {
    Phase phase = Phase::None;
    int32_t micro_batch = -1;
  };
  Label at(uint32_t lane, int64_t time) const;

 private:
  struct Segment {
    int64_t start = 0;
    Label label;
  };
  struct Lane {
    std::vector<Segment> segments;
    std::vector<int64_t> borders;  ///< handovers and optimizer steps
    std::vector<bool> forward;     ///< before each border, and behind the last
  };
  void flatten(const RankTrace& trace);
  void find_forward(const Timeline& timeline, const Handovers& handovers);

  std::vector<Lane> lanes_;
  std::vector<bool> autograd_;
};

/// The ProfilerSteps, for the number of one at a moment; -1: between them.
class Steps {
 public:
  explicit Steps(const Timeline& timeline);
  int32_t at(int64_t time) const;

 private:
  struct Step {
    int64_t start = 0;
    int64_t end = 0;
    int32_t number = 0;
  };
  std::vector<Step> steps_;
};

}  // namespace prism::kineto
