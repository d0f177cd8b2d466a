// SPDX-License-Identifier: Apache-2.0
/// The communicators of a rank, of a trace that tells process groups by name only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "plugins/formats/chakra/records.hpp"
#include "prism/sdk/format.hpp"

namespace prism::chakra {

class Communicators {
 public:
  struct Known {
    uint32_t index = 0;  ///< of the sink
    std::string name;
    uint32_t size = 0;
    std::unordered_map<uint32_t, int32_t> position_of;  ///< by rank
  };

  /// Tells the sink of the groups that the rank is in: `trace.groups`, then `more`. The order is
  /// that of all ranks, which tells apart groups of equal ranks. `world`: the ranks of all files.
  Communicators(const RankTrace& trace, const std::vector<Group>& more, uint32_t rank,
                const std::vector<uint32_t>& world, sdk::TraceSink& sink);

  /// Of a communication that names `group` (a text of the trace; kNone and "0": all ranks, unless a
  /// group of that name is known). Throws INVALID_ARGUMENT for a group whose ranks are not known,
  /// or which the rank is not in.
  const Known& find(const Node& node, uint32_t group);

 private:
  void add(const Group& group);
  const Known& all_ranks();

  const RankTrace& trace_;
  const uint32_t rank_;
  const std::vector<uint32_t>& world_;
  sdk::TraceSink& sink_;
  std::map<std::string, Known, std::less<>> known_;
  std::map<std::string, uint32_t, std::less<>> others_;  ///< that the rank is not in: their sizes
  Known all_;
};

}  // namespace prism::chakra
