// SPDX-License-Identifier: Apache-2.0
/// Plugins that work inside the ranks: found, checked and tried here, loaded there by what these
/// functions return. Thread: [control].
#pragma once

#include <span>
#include <string_view>

#include "core/base/status.hpp"
#include "core/plugin/registry.hpp"
#include "prism/abi/option.h"
#include "prism/wire/agent.hpp"

namespace prism::plugin {

/// `values`: one per row of the plugin's option table, in its order. A session is opened and closed
/// again. Errors: as those of adapters.hpp.
Result<wire::Plugin> tensor_source_for_ranks(Registry& registry, std::string_view id,
                                             std::span<const prism_option_value_t> values);
Result<wire::Plugin> router_for_ranks(Registry& registry, std::string_view id,
                                      std::span<const prism_option_value_t> values);

}  // namespace prism::plugin
