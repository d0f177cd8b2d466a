// SPDX-License-Identifier: Apache-2.0
// prism::host::Router in front of routers that do well and of ones that are wrong in one way each.
#include <algorithm>
#include <gtest/gtest.h>
#include <span>
#include <string>
#include <vector>

#include "prism/host/bind.hpp"
#include "prism/host/router.hpp"
#include "prism/sdk/router.hpp"

namespace prism::host {
namespace {

using sdk::RoutingRequest;

const std::string kName = "plugin 'x' (libprism_x.so 0.1.0)";
const std::string kMistake = "; this is a mistake of the plugin";

/// Experts 0, 1, ... get tokens in turn.
class InTurn {
 public:
  explicit InTurn(const sdk::OptionValues& /*values*/) {}
  void counts(const RoutingRequest& r, std::span<uint64_t> counts) {
    std::fill(counts.begin(), counts.end(), 0);
    for (uint64_t i = 0; i < r.tokens * r.top_k; ++i) {
      ++counts[i % r.experts];
    }
  }
};

class WithAssign : public InTurn {
 public:
  using InTurn::InTurn;
  void assign(const RoutingRequest& r, std::span<uint32_t> experts) {
    for (size_t i = 0; i < experts.size(); ++i) {
      experts[i] = static_cast<uint32_t>(i % r.experts);
    }
  }
};

class WithLogits : public WithAssign {
 public:
  using WithAssign::WithAssign;
  void logits(const RoutingRequest& r, const sdk::Tensor& out) {
    const std::span<float> f32 = out.as<float>();
    for (size_t i = 0; i < f32.size(); ++i) {
      const uint64_t first = i / r.experts * r.top_k % r.experts;
      const uint64_t place = (i % r.experts + r.experts - first) % r.experts;
      f32[i] = -static_cast<float>(place);
    }
  }
};

class Refuses : public InTurn {
 public:
  using InTurn::InTurn;
  void counts(const RoutingRequest& r, std::span<uint64_t> /*counts*/) {
    throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                     "no experts of layer " + std::to_string(r.layer) + " were recorded");
  }
};
class CountsNothing : public InTurn {
 public:
  using InTurn::InTurn;
  void counts(const RoutingRequest& /*r*/, std::span<uint64_t> /*counts*/) {}
};
class CountsTooFew : public InTurn {
 public:
  using InTurn::InTurn;
  void counts(const RoutingRequest& r, std::span<uint64_t> counts) {
    InTurn::counts(r, counts);
    --counts[0];
  }
};
class AssignsTwice : public WithAssign {
 public:
  using WithAssign::WithAssign;
  void assign(const RoutingRequest& r, std::span<uint32_t> experts) {
    WithAssign::assign(r, experts);
    experts[1] = experts[0];
  }
};
class AssignsOtherCounts : public WithAssign {
 public:
  using WithAssign::WithAssign;
  void assign(const RoutingRequest& r, std::span<uint32_t> experts) {
    WithAssign::assign(r, experts);
    experts[0] = 3;
  }
};
class TiesLogits : public WithLogits {
 public:
  using WithLogits::WithLogits;
  void logits(const RoutingRequest& r, const sdk::Tensor& out) {
    WithLogits::logits(r, out);
    out.as<float>()[3] = out.as<float>()[2];
  }
};
class DoesNotOpen : public InTurn {
 public:
  explicit DoesNotOpen(const sdk::OptionValues& values) : InTurn(values) {
    throw std::invalid_argument("no such trace");
  }
};

prism_routing_request_t request(uint64_t tokens = 6, uint32_t experts = 4, uint32_t top_k = 2) {
  prism_routing_request_t r{};
  r.struct_size = sizeof r;
  r.seed = 1;
  r.tokens = tokens;
  r.experts = experts;
  r.top_k = top_k;
  return r;
}

template <typename Logit>
struct LogitTensor {
  explicit LogitTensor(const prism_routing_request_t& r)
      : values(r.tokens * r.experts),
        shape{static_cast<int64_t>(r.tokens), static_cast<int64_t>(r.experts)} {
    c.struct_size = sizeof c;
    c.data = values.data();
    c.device_type = PRISM_DEVICE_CPU;
    c.dtype = sizeof(Logit) == 2 ? PRISM_DTYPE_BF16 : PRISM_DTYPE_F32;
    c.ndim = 2;
    c.shape = shape;
  }
  std::vector<Logit> values;
  int64_t shape[2];
  prism_tensor_t c{};
};

/// A router and what it writes for one request.
template <typename T>
struct Routed {
  explicit Routed(const prism_routing_request_t& r = request())
      : asked(r), counts(r.experts), experts(r.tokens * r.top_k), logits(r) {
    EXPECT_EQ(check_router(sdk::Router<T>::table()), "");
  }
  Outcome run() {
    Outcome outcome = router.open({});
    if (outcome.ok()) {
      outcome = router.counts(asked, counts);
    }
    if (outcome.ok()) {
      outcome = router.assign(asked, counts, experts);
    }
    if (outcome.ok()) {
      outcome = router.logits(asked, experts, logits.c);
    }
    return outcome;
  }
  Router router{kName, static_cast<const prism_router_t*>(sdk::Router<T>::table())};
  prism_routing_request_t asked;
  std::vector<uint64_t> counts;
  std::vector<uint32_t> experts;
  LogitTensor<float> logits;
};

TEST(HostRouter, MakesWhatTheRouterDoesNotOffer) {
  Routed<InTurn> routed;
  const Outcome outcome = routed.run();
  ASSERT_TRUE(outcome.ok()) << outcome.text;
  const routing::Shape shape{6, 4, 2};
  EXPECT_EQ(routed.counts, std::vector<uint64_t>(4, 3));
  EXPECT_EQ(routing::check_assignment(shape, routed.counts, routed.experts), "");
  EXPECT_EQ(
      routing::check_logits(shape, routed.experts, std::span<const float>(routed.logits.values)),
      "");
}

TEST(HostRouter, DrawsAnewForEachMicroBatchLayerAndRank) {
  prism_routing_request_t r = request(200, 16, 4);
  Routed<InTurn> routed(r);
  ASSERT_TRUE(routed.run().ok());
  for (int what = 0; what < 4; ++what) {
    prism_routing_request_t other = r;
    other.seed += what == 0 ? 1 : 0;
    other.micro_batch += what == 1 ? 1 : 0;
    other.layer += what == 2 ? 1 : 0;
    other.rank += what == 3 ? 1 : 0;
    std::vector<uint32_t> experts(routed.experts.size());
    ASSERT_TRUE(routed.router.assign(other, routed.counts, experts).ok());
    EXPECT_NE(experts, routed.experts);
    ASSERT_TRUE(routed.router.assign(r, routed.counts, experts).ok());
    EXPECT_EQ(experts, routed.experts);
  }
}

TEST(HostRouter, UsesWhatTheRouterOffers) {
  Routed<WithLogits> routed;
  const Outcome outcome = routed.run();
  ASSERT_TRUE(outcome.ok()) << outcome.text;
  EXPECT_EQ(routed.experts, (std::vector<uint32_t>{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(routed.logits.values[0], 0);
  EXPECT_EQ(routed.logits.values[3], -3);
}

TEST(HostRouter, NoTokens) {
  EXPECT_TRUE(Routed<InTurn>(request(0)).run().ok());
  EXPECT_TRUE(Routed<WithLogits>(request(0)).run().ok());
}

template <typename T>
void expect_failure(prism_status_t code, const std::string& text,
                    const prism_routing_request_t& r = request()) {
  const Outcome outcome = Routed<T>(r).run();
  EXPECT_EQ(outcome.code, code);
  EXPECT_EQ(outcome.text, text);
}

TEST(HostRouter, PassesOnWhatTheRouterSays) {
  expect_failure<Refuses>(PRISM_STATUS_INVALID_ARGUMENT,
                          kName + ": counts(): no experts of layer 0 were recorded");
  expect_failure<DoesNotOpen>(PRISM_STATUS_INVALID_ARGUMENT, kName + ": open(): no such trace");
}

TEST(HostRouter, BlamesThePluginForWhatItWrote) {
  expect_failure<CountsNothing>(
      PRISM_STATUS_INTERNAL,
      kName + ": counts(): expert 0 gets 18446744073709551615 tokens, but there are only 6" +
          kMistake);
  expect_failure<CountsTooFew>(
      PRISM_STATUS_INTERNAL,
      kName +
          ": counts(): the counts of the experts add up to 11, but 6 tokens to 2 experts each "
          "make 12" +
          kMistake);
  expect_failure<AssignsTwice>(PRISM_STATUS_INTERNAL,
                               kName + ": assign(): token 0 goes to expert 0 twice" + kMistake);
  expect_failure<AssignsOtherCounts>(
      PRISM_STATUS_INTERNAL,
      kName + ": assign(): expert 0 gets 2 tokens, its count is 3" + kMistake);
  expect_failure<TiesLogits>(
      PRISM_STATUS_INTERNAL,
      kName + ": logits(): token 0: the logit of expert 3 equals that of another one in bf16" +
          kMistake);
}

TEST(HostRouter, RefusesRequestsThatCannotBe) {
  expect_failure<InTurn>(PRISM_STATUS_INVALID_ARGUMENT,
                         "each token goes to 5 different experts of 4; it must be 1 to 4",
                         request(6, 4, 5));
  Routed<InTurn> routed;
  ASSERT_TRUE(routed.run().ok());
  const std::span<uint64_t> three = std::span(routed.counts).first(3);
  EXPECT_EQ(routed.router.counts(routed.asked, three).text,
            "there is room for 3 numbers, not for the 4 that are needed");
}

TEST(HostRouter, LogitsInBf16AndNothingElse) {
  Routed<InTurn> routed;
  ASSERT_TRUE(routed.run().ok());
  LogitTensor<uint16_t> bf16(routed.asked);
  ASSERT_TRUE(routed.router.logits(routed.asked, routed.experts, bf16.c).ok());
  for (size_t i = 0; i < bf16.values.size(); ++i) {
    EXPECT_EQ(routing::detail::logit_of<float>(bf16.values[i]), routed.logits.values[i]);
  }
  bf16.c.dtype = PRISM_DTYPE_F16;
  const Outcome half = routed.router.logits(routed.asked, routed.experts, bf16.c);
  EXPECT_EQ(half.code, PRISM_STATUS_UNIMPLEMENTED);
  EXPECT_EQ(half.text, "logits are f32 or bf16, not f16");
  LogitTensor<float> cuda(routed.asked);
  cuda.c.device_type = PRISM_DEVICE_CUDA;
  EXPECT_EQ(routed.router.logits(routed.asked, routed.experts, cuda.c).code,
            PRISM_STATUS_UNIMPLEMENTED);
  LogitTensor<float> small(request(5));
  EXPECT_EQ(routed.router.logits(routed.asked, routed.experts, small.c).text,
            "logits of 6 tokens for 4 experts do not fit a tensor of 20 elements");
}

TEST(HostRouter, TokensPerDevice) {
  Routed<WithAssign> routed;
  ASSERT_TRUE(routed.run().ok());
  std::vector<routing::DeviceTokens> devices(2);
  ASSERT_TRUE(Router::tokens_per_device(routed.asked, routed.experts, devices).ok());
  EXPECT_EQ(devices[0].copies, 6U);
  EXPECT_EQ(devices[0].tokens, 3U);
  devices.resize(3);
  EXPECT_EQ(Router::tokens_per_device(routed.asked, routed.experts, devices).code,
            PRISM_STATUS_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace prism::host
