// SPDX-License-Identifier: Apache-2.0
/// Names of communications, as in the experiment file.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

#include "prism/abi/comm.h"

namespace prism::sdk {

/// "all_reduce" for PRISM_COMM_ALL_REDUCE; "unknown" for what is no PRISM_COMM_.
constexpr std::string_view comm_name(int32_t kind) noexcept {
  constexpr std::string_view kNames[] = {"unknown",    "all_reduce", "all_gather", "reduce_scatter",
                                         "all_to_all", "barrier",    "broadcast",  "scatter",
                                         "reduce",     "gather",     "send",       "recv"};
  return kind > 0 && kind < static_cast<int32_t>(std::size(kNames)) ? kNames[kind] : kNames[0];
}

}  // namespace prism::sdk
