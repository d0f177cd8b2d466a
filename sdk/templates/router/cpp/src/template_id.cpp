// SPDX-License-Identifier: Apache-2.0
// The first `hot_experts` experts get every token; what is left to choose is spread evenly over the
// others. The contract of a router is in prism/abi/router.h.
#include <algorithm>
#include <cstdint>
#include <span>

#include "prism/sdk/options.hpp"
#include "prism/sdk/plugin.hpp"
#include "prism/sdk/router.hpp"

namespace {

using prism::sdk::OptionValues;
using prism::sdk::RoutingRequest;

class TemplateClass {
 public:
  static constexpr auto kOptions =
      prism::sdk::options(prism::sdk::integer("hot_experts", "How many experts get every token.")
                              .range(0, 1024)
                              .by_default("1"));

  explicit TemplateClass(const OptionValues& values)
      : hot_experts_(static_cast<uint64_t>(values.integer("hot_experts"))) {}

  void counts(const RoutingRequest& request, std::span<uint64_t> counts) const {
    // A token goes to top_k different experts, so that at most top_k of them can get all tokens.
    const uint64_t hot = std::min<uint64_t>(hot_experts_, request.top_k);
    const uint64_t others = request.experts - hot;
    const uint64_t left = request.tokens * (request.top_k - hot);
    for (uint64_t expert = 0; expert < request.experts; ++expert) {
      if (expert < hot) {
        counts[expert] = request.tokens;
      } else {
        const bool one_more = expert - hot < left % others;
        counts[expert] = left / others + (one_more ? 1 : 0);
      }
    }
  }

 private:
  uint64_t hot_experts_;
};

}  // namespace

PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION, prism::sdk::Router<TemplateClass>);
