// SPDX-License-Identifier: Apache-2.0
/// Collectives in the numbers of Chakra and of Prism.
#pragma once

#include <cstdint>

#include "plugins/formats/chakra/records.hpp"

namespace prism::chakra {

constexpr bool has_root(int32_t kind) {
  return kind == PRISM_COMM_BROADCAST || kind == PRISM_COMM_SCATTER || kind == PRISM_COMM_REDUCE ||
         kind == PRISM_COMM_GATHER;
}

/// Of a PRISM_COMM_ that is a collective.
CollectiveType type_of_collective(int32_t kind);

/// PRISM_COMM_. Throws INVALID_ARGUMENT for a type that is not told or not known.
int32_t kind_of_collective(const RankTrace& trace, const Node& node, const Communication& said);

}  // namespace prism::chakra
