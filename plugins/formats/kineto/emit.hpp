// SPDX-License-Identifier: Apache-2.0
/// The timeline of a rank as lanes and nodes of the sink.
#pragma once

#include <vector>

#include "plugins/formats/kineto/operations.hpp"
#include "plugins/formats/kineto/timeline.hpp"
#include "prism/sdk/format.hpp"

namespace prism::kineto {

/// The sink's rank has begun. `given`: see Communicators. Changes records and counts.
void emit(Timeline& timeline, const Operations& operations, const std::vector<Edge>& waits,
          uint32_t rank, std::vector<uint32_t> given, sdk::TraceSink& sink);

}  // namespace prism::kineto
