// SPDX-License-Identifier: Apache-2.0
/// A job as JSON, for tests/reference and for looking at.
#pragma once

#include "core/base/json.hpp"
#include "core/graph/job.hpp"

namespace prism::graph {

/// Writes one object; all numbers as they are in the structs, kinds by name. Structure is written
/// once per class, the communicator table per rank.
void dump(const Job& job, JsonWriter& json);

}  // namespace prism::graph
