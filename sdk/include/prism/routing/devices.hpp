// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "prism/routing/shape.hpp"

namespace prism::routing {

/// What one device of an expert-parallel group gets of a rank's tokens.
struct DeviceTokens {
  uint64_t copies = 0;  ///< a token counts once for each of its experts there
  uint64_t tokens = 0;  ///< a token counts once
};

/// Writes what each of `devices.size()` devices gets. Experts lie on the devices in equal
/// consecutive blocks: the first experts / devices of them on device 0, and so on. Returns why not,
/// or "": devices that do not divide the experts. `assignment` is as assign() makes it. Any thread.
/// Throws std::bad_alloc.
[[nodiscard]] inline std::string tokens_per_device(const Shape& shape,
                                                   std::span<const uint32_t> assignment,
                                                   std::span<DeviceTokens> devices) {
  std::string problem = check_shape(shape);
  if (!problem.empty()) {
    return problem;
  }
  if (devices.empty() || shape.experts % devices.size() != 0) {
    return std::to_string(shape.experts) + " experts cannot be laid out evenly over " +
           std::to_string(devices.size()) + " devices; use a number that divides the experts";
  }
  if (assignment.size() != shape.tokens * shape.top_k) {
    return "the assignment has " + std::to_string(assignment.size()) + " numbers, not " +
           std::to_string(shape.tokens * shape.top_k);
  }
  const auto per_device = static_cast<uint32_t>(shape.experts / devices.size());
  std::vector<uint32_t> device_of(shape.experts);
  for (uint32_t expert = 0; expert < shape.experts; ++expert) {
    device_of[expert] = expert / per_device;
  }
  std::fill(devices.begin(), devices.end(), DeviceTokens{});
  std::vector<uint64_t> next_token(devices.size());  // after the last one that the device got
  const uint32_t* expert = assignment.data();
  for (uint64_t token = 0; token < shape.tokens; ++token) {
    for (uint32_t i = 0; i < shape.top_k; ++i) {
      const uint32_t device = device_of[*expert++];
      ++devices[device].copies;
      devices[device].tokens += next_token[device] == token + 1 ? 0 : 1;
      next_token[device] = token + 1;
    }
  }
  return {};
}

}  // namespace prism::routing
