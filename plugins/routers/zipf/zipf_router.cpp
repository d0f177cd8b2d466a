// SPDX-License-Identifier: Apache-2.0
/// Few experts get most tokens. Which expert is how hot, seed and layer decide: the same for all
/// micro-batches and ranks.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "plugins/routers/zipf/zipf_counts.hpp"
#include "prism/routing/shuffle.hpp"
#include "prism/sdk/plugin.hpp"
#include "prism/sdk/random.hpp"
#include "prism/sdk/router.hpp"

namespace {

namespace sdk = prism::sdk;

class ZipfRouter {
 public:
  static constexpr auto kOptions = sdk::options(
      sdk::real("exponent",
                "The i-th hottest expert's share is 1 / i to this power, at most every token; 0: "
                "all the same.")
          .range(0.0, 8.0)
          .by_default("1.0"));

  explicit ZipfRouter(const sdk::OptionValues& values) : exponent_(values.real("exponent")) {
    if (!(exponent_ >= 0 && exponent_ <= 8)) {
      throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                       "exponent must be between 0 and 8, not " + std::to_string(exponent_));
    }
  }

  void counts(const sdk::RoutingRequest& request, std::span<uint64_t> counts) {
    std::vector<uint32_t> by_heat(request.experts);
    std::iota(by_heat.begin(), by_heat.end(), uint32_t{0});
    sdk::Random heat(sdk::mix({request.seed, request.layer}));
    prism::routing::shuffle(std::span(by_heat), heat);
    sdk::Random ties(sdk::mix({request.seed, request.layer, request.micro_batch, request.rank}));
    const std::vector<uint64_t> sorted = prism::zipf::counts_by_heat(
        request.tokens, request.experts, request.top_k, exponent_, ties);
    for (uint32_t i = 0; i < request.experts; ++i) {
      counts[by_heat[i]] = sorted[i];
    }
  }

 private:
  double exponent_;
};

}  // namespace

PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION, sdk::Router<ZipfRouter>);
