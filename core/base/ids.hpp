// SPDX-License-Identifier: Apache-2.0
/// Numbers that name things, and time.
#pragma once

#include <cstdint>

namespace prism {

/// A logical rank: 0 .. world_size - 1.
using Rank = uint32_t;
/// Nanoseconds since the start of what is described.
using TimeNs = int64_t;
/// Length of a span in nanoseconds.
using DurationNs = int64_t;

}  // namespace prism
