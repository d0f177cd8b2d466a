// SPDX-License-Identifier: Apache-2.0
/// Every expert gets the same number of tokens. Where the numbers do not divide, some experts get
/// one more; which ones, seed, layer, micro-batch and rank decide.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "prism/routing/shuffle.hpp"
#include "prism/sdk/plugin.hpp"
#include "prism/sdk/random.hpp"
#include "prism/sdk/router.hpp"

namespace {

class BalancedRouter {
 public:
  explicit BalancedRouter(const prism::sdk::OptionValues& /*values*/) {}

  void counts(const prism::sdk::RoutingRequest& request, std::span<uint64_t> counts) {
    const uint64_t total = request.tokens * request.top_k;
    std::fill(counts.begin(), counts.end(), total / request.experts);
    std::vector<uint32_t> experts(request.experts);
    std::iota(experts.begin(), experts.end(), uint32_t{0});
    prism::sdk::Random random(
        prism::sdk::mix({request.seed, request.layer, request.micro_batch, request.rank}));
    prism::routing::shuffle(std::span(experts), random);
    for (uint64_t i = 0; i < total % request.experts; ++i) {
      ++counts[experts[static_cast<size_t>(i)]];
    }
  }
};

}  // namespace

PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION, prism::sdk::Router<BalancedRouter>);
