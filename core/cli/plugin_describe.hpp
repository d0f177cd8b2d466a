// SPDX-License-Identifier: Apache-2.0
/// A plugin in words and as JSON: what its manifest says and, where it is loaded, its options.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.hpp"
#include "core/config/plugin_options.hpp"
#include "core/plugin/discovery.hpp"

namespace prism::cli {

/// An interface of a loaded plugin.
struct DescribedInterface {
  std::string id;  ///< "prism.router/1"
  config::OptionRows rows;
};

/// "router" of "prism.router/1", "com.acme.tracer" of "com.acme.tracer/1".
std::string kind_of(const std::string& interface);
/// "ok", "shadowed", "incompatible" or "broken".
std::string state_name(plugin::State state);
/// The same with the reason: "broken: its file x is missing".
std::string state_text(const plugin::Candidate& candidate);
/// "1.0": the oldest plugin ABI that the plugin can be used with.
std::string abi_text(const plugin::Manifest& manifest);

/// Members that `plugin list` and `plugin show` have in common, into the open object.
void write_identity(JsonWriter& json, const plugin::Candidate& candidate);

/// What `plugin show` prints. `interfaces` is empty for a plugin that was not loaded.
std::string describe_text(const plugin::Candidate& candidate,
                          const std::vector<DescribedInterface>& interfaces);
std::string describe_json(const plugin::Candidate& candidate,
                          const std::vector<DescribedInterface>& interfaces);

}  // namespace prism::cli
