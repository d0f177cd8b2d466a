// SPDX-License-Identifier: Apache-2.0
/// [[collect.rule]]: what absent peers would have sent, where it is not to be made up as usual.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/config/diagnostics.hpp"
#include "core/config/value.hpp"

namespace prism::config {

/// All conditions that are there must hold; the first rule that matches is taken.
struct CollectRule {
  uint32_t line = 0;                          ///< in the file; 0: on the command line
  std::optional<uint8_t> kind;                ///< PRISM_COMM_
  std::optional<std::string> group;           ///< description of the communicator
  std::optional<uint8_t> dtype;               ///< PRISM_DTYPE_
  std::optional<std::vector<Rank>> ranks;     ///< of which the receiving rank is one
  std::optional<std::vector<int64_t>> shape;  ///< -1: any extent
  std::optional<uint64_t> call;               ///< from 0
  std::string source;                         ///< id of the tensor source
  /// The inline table `source` of the document; all keys but "id" are options of the plugin.
  const Value* options = nullptr;
};

/// Reads the value of `rule` in [collect] and adds every mistake to `diagnostics`; what the plugins
/// take is not looked at. `folder`: absolute, of the experiment file.
std::vector<CollectRule> read_collect_rules(const Value& rules, uint32_t world_size,
                                            const std::string& folder, Diagnostics& diagnostics);

}  // namespace prism::config
