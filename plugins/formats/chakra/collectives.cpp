// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/chakra/collectives.hpp"

#include <algorithm>
#include <iterator>

#include "prism/sdk/error.hpp"

namespace prism::chakra {
namespace {

/// By CollectiveType. A REDUCE_SCATTER_BLOCK is one with equal shares, as all of Prism's are: for
/// export the first of a kind counts.
constexpr int32_t kKinds[] = {PRISM_COMM_ALL_REDUCE,     PRISM_COMM_REDUCE,
                              PRISM_COMM_ALL_GATHER,     PRISM_COMM_GATHER,
                              PRISM_COMM_SCATTER,        PRISM_COMM_BROADCAST,
                              PRISM_COMM_ALL_TO_ALL,     PRISM_COMM_REDUCE_SCATTER,
                              PRISM_COMM_REDUCE_SCATTER, PRISM_COMM_BARRIER};

}  // namespace

CollectiveType type_of_collective(int32_t kind) {
  const auto* found = std::find(std::begin(kKinds), std::end(kKinds), kind);
  if (found == std::end(kKinds)) {
    throw sdk::Error(PRISM_STATUS_UNIMPLEMENTED,
                     "Chakra has no collective for kind " + std::to_string(kind));
  }
  return static_cast<CollectiveType>(found - std::begin(kKinds));
}

int32_t kind_of_collective(const RankTrace& trace, const Node& node, const Communication& said) {
  if (said.type == kNotTold) {
    throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                     trace.place(node) +
                         " is a collective (COMM_COLL_NODE) but does not say which; the attribute "
                         "comm_type was expected");
  }
  if (said.type < 0 || said.type >= static_cast<int64_t>(std::size(kKinds))) {
    throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                     trace.place(node) + " is a collective of the unknown type " +
                         std::to_string(said.type) + "; comm_type 0 to " +
                         std::to_string(std::size(kKinds) - 1) + " was expected");
  }
  return kKinds[said.type];
}

}  // namespace prism::chakra
