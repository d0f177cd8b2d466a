// SPDX-License-Identifier: Apache-2.0
/// What a synthetic training job is made of: the layout, sizes and times of a Megatron job.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/status.hpp"

namespace prism::synthetic {

/// What one rank takes for one piece of work, in ns, before jitter. Transfers are pure: without
/// waiting for other ranks.
struct Durations {
  DurationNs launch = 5'000;   ///< CPU: one kernel
  DurationNs python = 10'000;  ///< CPU: before each launch
  DurationNs attention_forward = 900'000;
  DurationNs attention_backward = 1'800'000;
  DurationNs mlp_forward = 1'400'000;  ///< of the experts where the job has any
  DurationNs mlp_backward = 2'800'000;
  DurationNs optimizer = 8'000'000;
  DurationNs tensor_reduce = 350'000;    ///< all-reduce of activations over the tensor group
  DurationNs expert_exchange = 600'000;  ///< all-to-all to the experts, and the one back
  DurationNs activations = 400'000;      ///< to or from a neighbour stage
  DurationNs gradients = 2'500'000;      ///< reduce-scatter of a layer's
  DurationNs parameters = 2'500'000;     ///< all-gather of a layer's
  DurationNs embedding = 3'000'000;      ///< all-reduce between first and last stage
  DurationNs norm = 60'000;              ///< all-reduce of the gradient norm
};

/// Of the model; they decide what messages carry, not how long they take.
struct Sizes {
  uint64_t hidden = 8192;
  uint64_t sequence = 4096;
  uint64_t micro_batch = 1;
  uint64_t vocabulary = 128'000;
};

struct Spec {
  uint32_t tp = 1;  ///< ranks are numbered tensor first, then data, then pipeline
  uint32_t pp = 1;
  uint32_t dp = 1;
  uint32_t ep = 1;      ///< divides dp; above 1 every layer has experts
  uint32_t chunks = 1;  ///< of a stage. 1: 1F1B; more: interleaved, which needs pp > 2
  uint32_t micro_batches = 1;
  uint32_t layers_per_stage = 1;
  uint32_t iterations = 1;
  bool overlap_gradients = true;  ///< reduced behind the last micro-batch's backward
  Sizes sizes;
  Durations durations;
  std::vector<double> stage_factors;  ///< by stage: its layers take so many times as long; or empty
  double jitter = 0;                  ///< relative standard deviation, see make_times
  std::vector<std::pair<Rank, double>> stragglers;  ///< their kernels take so many times as long
  uint64_t seed = 1;                                ///< of the jitter

  uint32_t world_size() const { return tp * pp * dp; }
  Rank rank(uint32_t tensor, uint32_t data, uint32_t stage) const {
    return tensor + tp * (data + dp * stage);
  }
};

/// Errors: numbers that Megatron would refuse, and stage factors or stragglers that fit no stage or
/// rank.
Status validate(const Spec& spec);

}  // namespace prism::synthetic
