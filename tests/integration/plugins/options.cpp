// SPDX-License-Identifier: Apache-2.0
// A router with an option of every type, for what `prism plugin show` prints.
#include "prism/sdk/options.hpp"

#include <algorithm>

#include "prism/sdk/plugin.hpp"
#include "prism/sdk/router.hpp"

namespace {

using prism::sdk::to_c;

constexpr prism_str_t kModes[] = {to_c("fast"), to_c("exact")};

class AllOptions {
 public:
  static constexpr auto kOptions = prism::sdk::options(
      prism::sdk::boolean("on", "Whether it is on.").by_default("true"),
      prism::sdk::integer("level", "How much.").range(0, 9).by_default("3"),
      prism::sdk::real("share", "Of the whole.").range(0.0, 1.0).by_default("0.5"),
      prism::sdk::text("mode", "How.").choices(kModes).required(),
      prism::sdk::duration("delay", "How long.").range(1000, 1000000).by_default("\"25 us\""),
      prism::sdk::bytes("room", "How big.").range(0, 1 << 30).by_default("\"16 MiB\""),
      prism::sdk::path("table", "From where."));

  explicit AllOptions(const prism::sdk::OptionValues& /*values*/) {}
  void counts(const prism::sdk::RoutingRequest& request, std::span<uint64_t> counts) const {
    std::fill(counts.begin(), counts.end(), 0);
    std::fill_n(counts.begin(), request.top_k, request.tokens);
  }
};

}  // namespace

PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION, prism::sdk::Router<AllOptions>);
