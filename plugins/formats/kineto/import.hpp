// SPDX-License-Identifier: Apache-2.0
/// Traces of PyTorch's profiler, one file a rank, into the sink.
#pragma once

#include <span>

#include "prism/sdk/format.hpp"

namespace prism::kineto {

enum class Clock {
  Auto,    ///< ranks of one host, by the name of their files, share a clock
  Shared,  ///< all ranks share one
  Own,     ///< every rank has its own
};

/// Throws sdk::Error.
void import_traces(std::span<const sdk::TraceInput> inputs, Clock clock, sdk::TraceSink& sink);

}  // namespace prism::kineto
