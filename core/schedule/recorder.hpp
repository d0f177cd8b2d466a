// SPDX-License-Identifier: Apache-2.0
/// Makes the graph of one rank from what its agent recorded.
///
/// Lanes. On the CPU device all threads of a rank share its core: their events form one lane
/// "cpu:0" in the order of time. A communication sits on a lane of its communicator, depends on the
/// CPU node before its issue, and has no duration of its own: the data is moved by a Transfer node
/// on the CPU lane, at the place where the program waits (architecture 5: on the CPU device a
/// transfer occupies the rank's CPU lane). Messages that are not part of a batch have a lane for
/// each (communicator, direction, peer, tag), since neither gloo nor NCCL orders them among each
/// other.
///
/// Iterations (architecture 5). Iteration 0 of the program is its start, up to the first forward of
/// a root module; iteration i >= 1 ends at the last optimizer step before the next forward; what
/// follows the last one is the end, iteration `program.iterations - 1`. Without an optimizer step
/// the whole run is iteration 1 between an empty start and an empty end.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/status.hpp"
#include "core/graph/program.hpp"
#include "core/schedule/recording.hpp"

namespace prism::schedule {

/// Values that no peer has sent, by communicator and operation.
struct MadeUpCount {
  std::string communicator;  ///< description, else "group of 8 ranks"; "store": keys of the store
  std::string operation;     ///< "broadcast", ...
  std::string source;        ///< "echo", "fill", "empty key", or a tensor source's id
  uint64_t operations = 0;
  uint64_t bytes = 0;
};

struct RecordedRank {
  graph::Program program;
  bool has_optimizer = false;
  uint32_t training_iterations = 0;       ///< iterations 1 .. training_iterations of the program
  std::vector<uint64_t> iteration_shape;  ///< per iteration of the program: equal when the
                                          ///< communications (kind, group, order) are equal
  std::vector<uint64_t> iteration_bytes;  ///< per iteration of the program: sent and received
  std::vector<std::string> optimizers;    ///< "AdamW of 1024 elements", in order of first steps
  std::vector<MadeUpCount> made_up;
  DurationNs compute_ns = 0;      ///< of the training iterations, by the clock on the wall
  DurationNs compute_cpu_ns = 0;  ///< of these, what the threads really ran
  DurationNs agent_cost_ns = 0;   ///< time that interception took, not part of the program
  uint64_t communications = 0;
};

/// Errors: events that contradict each other (an operation of an unknown group, a wait for an
/// unknown operation, time that runs backwards); names the event.
Result<RecordedRank> build_program(const Recording& recording);

}  // namespace prism::schedule
