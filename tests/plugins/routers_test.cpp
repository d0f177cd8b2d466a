// SPDX-License-Identifier: Apache-2.0
// The router plugins balanced and zipf, loaded as the program loads them.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/plugin/registry.hpp"
#include "prism/host/router.hpp"
#include "prism/sdk/random.hpp"

namespace prism::plugin {
namespace {

using host::Outcome;
using host::Router;

prism_routing_request_t request(uint64_t tokens, uint32_t experts, uint32_t top_k) {
  prism_routing_request_t r{};
  r.struct_size = sizeof r;
  r.seed = 1;
  r.tokens = tokens;
  r.experts = experts;
  r.top_k = top_k;
  return r;
}

class Routers : public testing::Test {
 protected:
  std::unique_ptr<Router> closed(const std::string& id) {
    const auto plugin = registry_.load(id);
    EXPECT_TRUE(plugin.ok()) << plugin.status().to_string();
    return std::make_unique<Router>((*plugin)->name(), static_cast<const prism_router_t*>(
                                                           (*plugin)->interface(PRISM_ROUTER_1)));
  }
  std::unique_ptr<Router> balanced() {
    std::unique_ptr<Router> router = closed("balanced");
    EXPECT_TRUE(router->open({}).ok());
    return router;
  }
  std::unique_ptr<Router> zipf(double exponent) {
    std::unique_ptr<Router> router = closed("zipf");
    EXPECT_TRUE(open(*router, exponent).ok());
    return router;
  }
  static Outcome open(Router& router, double exponent) {
    prism_option_value_t value{};
    value.type = PRISM_OPTION_FLOAT;
    value.set = 1;
    value.u.real = exponent;
    return router.open(std::span(&value, 1));
  }
  static std::vector<uint64_t> counts(Router& router, const prism_routing_request_t& r) {
    std::vector<uint64_t> result(r.experts);
    const Outcome outcome = router.counts(r, result);
    EXPECT_TRUE(outcome.ok()) << outcome.text;
    return result;
  }

  Registry registry_{SearchPath{{}, {PRISM_BINARY_DIR "/lib/prism/plugins/abi-1"}}};
};

/// Counts, assignment and (where few enough) logits of this request, each checked by the host.
void expect_routed(Router& router, const prism_routing_request_t& r, bool with_logits) {
  std::vector<uint64_t> counts(r.experts);
  std::vector<uint32_t> experts(r.tokens * r.top_k);
  Outcome outcome = router.counts(r, counts);
  ASSERT_TRUE(outcome.ok()) << outcome.text;
  outcome = router.assign(r, counts, experts);
  ASSERT_TRUE(outcome.ok()) << outcome.text;
  const routing::Shape shape{r.tokens, r.experts, r.top_k};
  ASSERT_EQ(routing::check_counts(shape, counts), "");
  ASSERT_EQ(routing::check_assignment(shape, counts, experts), "");
  if (with_logits) {
    std::vector<float> logits(r.tokens * r.experts);
    const int64_t extent[] = {static_cast<int64_t>(r.tokens), static_cast<int64_t>(r.experts)};
    prism_tensor_t tensor{};
    tensor.struct_size = sizeof tensor;
    tensor.data = logits.data();
    tensor.device_type = PRISM_DEVICE_CPU;
    tensor.dtype = PRISM_DTYPE_F32;
    tensor.ndim = 2;
    tensor.shape = extent;
    outcome = router.logits(r, experts, tensor);
    ASSERT_TRUE(outcome.ok()) << outcome.text;
    ASSERT_EQ(routing::check_logits(shape, experts, std::span<const float>(logits)), "");
  }
}

TEST_F(Routers, TenThousandRandomRequests) {
  sdk::Random random(2024);
  const std::unique_ptr<Router> even = balanced();
  for (int i = 0; i < 10'000; ++i) {
    const auto experts = static_cast<uint32_t>(1 + random.below(i % 10 == 0 ? 300 : 40));
    const uint32_t top_k = i % 7 == 0 ? experts : static_cast<uint32_t>(1 + random.below(experts));
    const uint64_t tokens = i % 100 == 0 ? random.below(3000) : random.below(100);
    prism_routing_request_t r = request(i % 50 == 0 ? 0 : tokens, experts, top_k);
    r.seed = random();
    r.layer = static_cast<uint32_t>(random.below(64));
    r.rank = static_cast<uint32_t>(random());
    r.micro_batch = random();
    const double exponent =
        i % 5 == 0 ? static_cast<double>(random.below(9)) : random.uniform() * 8;
    SCOPED_TRACE("tokens " + std::to_string(r.tokens) + " experts " + std::to_string(experts) +
                 " top " + std::to_string(top_k) + " exponent " + std::to_string(exponent) +
                 " seed " + std::to_string(r.seed));
    expect_routed(*zipf(exponent), r, i % 20 == 0);
    if (i % 4 == 0) {
      expect_routed(*even, r, i % 20 == 0);
    }
    if (HasFatalFailure()) {
      return;
    }
  }
}

TEST_F(Routers, BalancedIsEvenAndTheRemainderMovesOn) {
  const std::unique_ptr<Router> router = balanced();
  prism_routing_request_t r = request(1001, 48, 5);
  std::set<std::vector<uint64_t>> different;
  std::vector<uint64_t> sum(48);
  for (int what = 0; what < 4; ++what) {
    for (uint32_t i = 0; i < 100; ++i) {
      prism_routing_request_t other = r;
      other.seed += what == 0 ? i : 0;
      other.layer += what == 1 ? i : 0;
      other.micro_batch += what == 2 ? i : 0;
      other.rank += what == 3 ? i : 0;
      const std::vector<uint64_t> c = counts(*router, other);
      const auto [least, most] = std::minmax_element(c.begin(), c.end());
      EXPECT_LE(*most - *least, 1U);
      different.insert(c);
      std::transform(c.begin(), c.end(), sum.begin(), sum.begin(), std::plus<>());
    }
  }
  EXPECT_EQ(different.size(), 397U);  // all but the four times that nothing was changed
  // Each of 400 times an expert is one of the 13 of 48 with one more.
  for (const uint64_t n : sum) {
    EXPECT_NEAR(static_cast<double>(n - 400 * 104), 400.0 * 13 / 48, 50);
  }
}

/// The counts by falling heat in real numbers: shares of Zipf's law, cut at `tokens`.
std::vector<double> ideal(const prism_routing_request_t& r, double exponent) {
  std::vector<double> result;
  double left = static_cast<double>(r.tokens) * r.top_k;
  for (uint32_t i = 0; i < r.experts; ++i) {
    double rest = 0;  // weight of this and all colder ones, relative to this one
    for (uint32_t j = i; j < r.experts; ++j) {
      rest += std::pow((j + 1.0) / (i + 1.0), -exponent);
    }
    result.push_back(std::min(left / rest, static_cast<double>(r.tokens)));
    left -= result.back();
  }
  return result;
}

TEST_F(Routers, ZipfFollowsItsLaw) {
  for (const double exponent : {0.0, 0.3, 1.0, 1.2, 2.5, 8.0}) {
    const std::unique_ptr<Router> router = zipf(exponent);
    for (const auto& r : {request(4096, 128, 8), request(100, 7, 3), request(999, 64, 60),
                          request(1'000'000, 256, 8), request(17, 300, 2), request(5, 9, 1)}) {
      std::vector<uint64_t> c = counts(*router, r);
      std::sort(c.rbegin(), c.rend());
      const std::vector<double> wanted = ideal(r, exponent);
      for (uint32_t i = 0; i < r.experts; ++i) {
        EXPECT_NEAR(static_cast<double>(c[i]), wanted[i], 1.001)
            << "exponent " << exponent << ", " << r.tokens << " tokens, " << i << "-th hottest of "
            << r.experts;
      }
    }
  }
}

TEST_F(Routers, WhichExpertIsHotDependsOnSeedAndLayerAlone) {
  const std::unique_ptr<Router> router = zipf(1.0);
  const auto hottest = [&](const prism_routing_request_t& r) {
    const std::vector<uint64_t> c = counts(*router, r);
    std::vector<uint32_t> by_heat(r.experts);
    std::iota(by_heat.begin(), by_heat.end(), 0U);
    std::sort(by_heat.begin(), by_heat.end(), [&](uint32_t a, uint32_t b) { return c[a] > c[b]; });
    by_heat.resize(10);
    return by_heat;
  };
  const prism_routing_request_t r = request(100'000, 64, 4);
  prism_routing_request_t other = r;
  other.micro_batch = 3;
  other.rank = 7;
  EXPECT_EQ(hottest(other), hottest(r));
  other = r;
  other.layer = 1;
  EXPECT_NE(hottest(other), hottest(r));
  other = r;
  other.seed = 2;
  EXPECT_NE(hottest(other), hottest(r));
}

TEST_F(Routers, TokensWithoutEnd) {
  for (const auto& r :
       {request(1'000'000'000, 384, 8), request(uint64_t{1} << 54, 256, 8),
        request(std::numeric_limits<int64_t>::max() / 3, 3, 2), request(1'000'000'007, 128, 128)}) {
    for (const double exponent : {0.0, 1.0, 1.2, 8.0}) {
      counts(*zipf(exponent), r);  // the host checks the sum
    }
    counts(*balanced(), r);
  }
}

TEST_F(Routers, ExponentOutOfRange) {
  for (const double exponent : {-0.1, 8.5, std::numeric_limits<double>::quiet_NaN()}) {
    const std::unique_ptr<Router> router = closed("zipf");
    const Outcome outcome = open(*router, exponent);
    EXPECT_EQ(outcome.code, PRISM_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(outcome.text,
              "plugin 'zipf' (libprism_zipf.so 0.1.0): open(): exponent must be between 0 and 8, "
              "not " +
                  std::to_string(exponent));
  }
}

TEST_F(Routers, GoldenCounts) {
  // The same with every compiler and on every machine.
  const auto hash = [](const std::vector<uint64_t>& values) {
    uint64_t h = 0;
    for (const uint64_t value : values) {
      h = sdk::scramble(h ^ value);
    }
    return h;
  };
  EXPECT_EQ(hash(counts(*balanced(), request(1001, 48, 5))), 16869019314628397204U);
  EXPECT_EQ(hash(counts(*zipf(1.0), request(4096, 128, 8))), 6112948939412643418U);
  EXPECT_EQ(hash(counts(*zipf(1.2), request(1'000'000'000, 384, 8))), 11626750022799136558U);
  EXPECT_EQ(hash(counts(*zipf(0.37), request(12'345, 1000, 40))), 10331185440635868487U);
}

}  // namespace
}  // namespace prism::plugin
