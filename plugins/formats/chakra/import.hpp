// SPDX-License-Identifier: Apache-2.0
/// Files of ranks into a trace sink.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "prism/sdk/format.hpp"

namespace prism::chakra {

/// Which ranks have times that can be compared. Auto: those of traces that Prism wrote or that tell
/// no times; others have clocks of their own.
enum class Clock : uint8_t { Auto, Shared, Own };

struct ImportOptions {
  Clock clock = Clock::Auto;
  std::string groups;  ///< ASTRA-sim's file of communicator groups; empty: none
};

/// Throws Error.
void import_traces(std::span<const sdk::TraceInput> inputs, const ImportOptions& options,
                   sdk::TraceSink& sink);

}  // namespace prism::chakra
