// SPDX-License-Identifier: Apache-2.0
/// Numbers of process groups that are the same in the files of all ranks: ASTRA-sim wants the name
/// of a group to be one, and Prism's names may differ from rank to rank.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "prism/sdk/format.hpp"

namespace prism::chakra {

class GroupNumbers {
 public:
  /// By communicator of a rank: its number, from 1 (0 is that of all ranks).
  std::vector<uint32_t> of_rank(const std::vector<sdk::TraceCommunicator>& communicators);

  /// {"1": [0, 1], ...}
  std::string json() const;
  bool empty() const { return ranks_.empty(); }

 private:
  std::map<std::string, uint32_t> numbers_;  ///< by what a group is
  std::vector<std::vector<uint32_t>> ranks_;
};

/// "[0, 1]"
std::string json_of(const std::vector<uint32_t>& ranks);

}  // namespace prism::chakra
