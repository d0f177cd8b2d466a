// SPDX-License-Identifier: Apache-2.0
/// Words for nodes that all exporters use.
#pragma once

#include <cstdint>
#include <string_view>

#include "prism/abi/draft/format.h"
#include "prism/sdk/comm.hpp"

namespace prism::formats {

/// "compute", "batch", or the name of the communication.
constexpr std::string_view kind_name(int32_t kind) {
  switch (kind) {
    case PRISM_NODE_COMPUTE:
      return "compute";
    case PRISM_NODE_BATCH:
      return "batch";
    default:
      return sdk::comm_name(kind);
  }
}

}  // namespace prism::formats
