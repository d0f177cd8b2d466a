// SPDX-License-Identifier: Apache-2.0
/// A replayed trace into a folder: trace.RANK.et of each rank, and comm_group.json, ASTRA-sim's
/// file of communicator groups, where there are any.
#pragma once

#include <string>

#include "prism/sdk/format.hpp"

namespace prism::chakra {

/// Throws Error.
void export_traces(const sdk::TraceReader& reader, const std::string& folder);

}  // namespace prism::chakra
