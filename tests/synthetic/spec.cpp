// SPDX-License-Identifier: Apache-2.0
#include "tests/synthetic/spec.hpp"

#include <algorithm>

namespace prism::synthetic {

Status validate(const Spec& spec) {
  const auto least = std::min({spec.tp, spec.pp, spec.dp, spec.ep, spec.chunks, spec.micro_batches,
                               spec.layers_per_stage, spec.iterations});
  if (least == 0) {
    return config_error("each number of a synthetic job is at least 1");
  }
  if (spec.dp % spec.ep != 0) {
    return config_error("ep must divide dp");
  }
  if (spec.layers_per_stage % spec.chunks != 0) {
    return config_error("chunks must divide layers_per_stage");
  }
  if (spec.chunks > 1 && (spec.pp <= 2 || spec.micro_batches % spec.pp != 0)) {
    return config_error("interleaved: pp must be above 2 and divide micro_batches");
  }
  if (!spec.stage_factors.empty() && spec.stage_factors.size() != spec.pp) {
    return config_error("stage_factors: one for each stage, or none");
  }
  for (const auto& straggler : spec.stragglers) {
    if (straggler.first >= spec.world_size()) {
      return config_error("a straggler is not below the world size");
    }
  }
  return {};
}

}  // namespace prism::synthetic
