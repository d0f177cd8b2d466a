// SPDX-License-Identifier: Apache-2.0
/// The orders in which Megatron-LM runs the micro-batches of a pipeline stage and talks to the
/// stages around it (megatron/core/pipeline_parallel/schedules.py, overlap_p2p_comm = False).
#pragma once

#include <cstdint>
#include <vector>

namespace prism::synthetic {

struct Action {
  enum class Kind : uint8_t { Forward, Backward, Exchange };
  Kind kind = Kind::Forward;
  uint32_t micro_batch = 0;  ///< Forward, Backward
  uint32_t chunk = 0;        ///< Forward, Backward
  // Exchange: messages that are one batch; activations go to the next stage, gradients to the
  // previous one.
  bool send_previous = false;
  bool receive_previous = false;
  bool send_next = false;
  bool receive_next = false;
};

/// What `stage` does in an iteration. One chunk: 1F1B
/// (forward_backward_pipelining_without_interleaving); more: interleaved, in groups of `stages`
/// micro-batches (forward_backward_pipelining_with_interleaving).
std::vector<Action> schedule_of(uint32_t stage, uint32_t stages, uint32_t micro_batches,
                                uint32_t chunks);

}  // namespace prism::synthetic
