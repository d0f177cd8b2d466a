// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/rank_plugins.hpp"

#include <string>

#include "core/plugin/bound.hpp"
#include "prism/abi/router.h"
#include "prism/abi/tensor_source.h"
#include "prism/host/library.hpp"
#include "prism/wire/options.hpp"

namespace prism::plugin {
namespace {

template <typename Table, typename Session>
Result<wire::Plugin> for_ranks(Registry& registry, std::string_view id, const char* interface,
                               std::span<const prism_option_value_t> values) {
  PRISM_TRY_ASSIGN(const auto bound, bind<Table>(registry, id, interface));
  PRISM_TRY_ASSIGN(Session* const session, (open_session<Table, Session>(bound, values)));
  {
    const host::NotedCall noted(bound.plugin->name(), "close");
    bound.table->close(session);
  }

  wire::Plugin plugin;
  plugin.id = id;
  plugin.library = bound.plugin->library();
  plugin.hash = host::library_hash(plugin.library);
  if (plugin.hash.empty()) {
    return plugin_error(bound.plugin->name() + ": '" + plugin.library + "' cannot be read",
                        Code::PermissionDenied);
  }
  for (const prism_option_value_t& value : values) {
    plugin.options.push_back(wire::to_wire(value));
  }
  return plugin;
}

}  // namespace

Result<wire::Plugin> tensor_source_for_ranks(Registry& registry, std::string_view id,
                                             std::span<const prism_option_value_t> values) {
  return for_ranks<prism_tensor_source_t, prism_tensor_source_session_t>(
      registry, id, PRISM_TENSOR_SOURCE_1, values);
}

Result<wire::Plugin> router_for_ranks(Registry& registry, std::string_view id,
                                      std::span<const prism_option_value_t> values) {
  return for_ranks<prism_router_t, prism_router_session_t>(registry, id, PRISM_ROUTER_1, values);
}

}  // namespace prism::plugin
