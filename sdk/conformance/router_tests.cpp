// SPDX-License-Identifier: Apache-2.0
// S5 of routers: counts, assignments and logits keep the promises of prism/abi/router.h.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>

#include "prism/host/status.hpp"
#include "prism/sdk/random.hpp"
#include "sdk/conformance/library.hpp"
#include "sdk/conformance/router_interface.hpp"
#include "sdk/conformance/suite.hpp"

namespace prism::conformance {
namespace {

using Request = prism_routing_request_t;

/// What a call wrote, or nothing when the router cannot serve the request.
template <typename T>
struct Written {
  bool served = false;
  std::vector<T> values;
};

/// A router with an open session and its functions, called as the host does.
class RouterBench {
 public:
  explicit RouterBench(Context& context)
      : context_(context),
        bench_(context, kRouterKind),
        table_(*static_cast<const prism_router_t*>(bench_.plugin().get_interface(PRISM_ROUTER_1))),
        session_(bench_.open()) {}

  /// From here on with drawn values of the options; false when the router refuses them.
  bool draw_options(sdk::Random& random) {
    session_.close();
    const std::optional<Session> drawn = bench_.open_drawn(random, options_);
    session_ = drawn.value_or(bench_.open());
    return drawn.has_value();
  }

  std::string words(const char* function, const Request& request) const {
    return describe(function, request) + (options_.empty() ? "" : ", " + options_);
  }

  bool has_assign() const { return table_.assign != nullptr; }
  bool has_logits() const { return table_.logits != nullptr; }

  Written<uint64_t> counts(const Request& request) {
    return call<uint64_t>("counts()", request, request.experts, [&](void* out, const auto* err) {
      return table_.counts(session(), &request, static_cast<uint64_t*>(out), err);
    });
  }
  Written<uint32_t> assign(const Request& request) {
    return call<uint32_t>(
        "assign()", request, request.tokens * request.top_k, [&](void* out, const auto* err) {
          return table_.assign(session(), &request, static_cast<uint32_t*>(out), err);
        });
  }
  /// T is float for f32 and uint16_t for bf16.
  template <typename T>
  Written<T> logits(const Request& request) {
    const int64_t shape[] = {static_cast<int64_t>(request.tokens), request.experts};
    prism_tensor_t tensor{};
    tensor.struct_size = sizeof tensor;
    tensor.device_type = PRISM_DEVICE_CPU;
    tensor.dtype = sizeof(T) == sizeof(float) ? PRISM_DTYPE_F32 : PRISM_DTYPE_BF16;
    tensor.ndim = 2;
    tensor.shape = shape;
    const char* what = sizeof(T) == sizeof(float) ? "logits() as f32" : "logits() as bf16";
    return call<T>(what, request, request.tokens * request.experts,
                   [&](void* out, const auto* err) {
                     tensor.data = out;
                     return table_.logits(session(), &request, &tensor, err);
                   });
  }

  /// Skips the test unless the router served at least one request.
  void require_served() const {
    if (!served_) {
      skip("the router serves none of the requests of this test");
    }
  }

 private:
  prism_router_session_t* session() const {
    return static_cast<prism_router_session_t*>(session_.handle());
  }

  template <typename T, typename Function>
  Written<T> call(const char* function, const Request& request, uint64_t n, Function&& run) {
    const std::string what = words(function, request);
    context_.doing(what);
    GuardedBuffer buffer(n * sizeof(T), 0x5a);
    const StrictSink sink;
    const prism_status_t status = run(buffer.data(), sink.c());
    buffer.require_intact(what + ":");
    if (status != PRISM_STATUS_OK) {
      const std::string problem = sink.problem(status);
      require(problem.empty(), what + ": " + problem);
      require(status == PRISM_STATUS_INVALID_ARGUMENT,
              what + " failed with status " + host::status_name(status) + sink.quoted() +
                  "; a request that it cannot serve is INVALID_ARGUMENT");
      return {};
    }
    served_ = true;
    return {true, std::vector<T>(buffer.as<T>(), buffer.as<T>() + n)};
  }

  Context& context_;
  Bench bench_;
  const prism_router_t& table_;
  Session session_;
  std::string options_;  ///< that were drawn
  bool served_ = false;
};

void check_counts(RouterBench& router, const Request& request) {
  const Written<uint64_t> counts = router.counts(request);
  if (!counts.served) {
    return;
  }
  const std::string what = router.words("counts()", request);
  uint64_t sum = 0;
  for (size_t e = 0; e < counts.values.size(); ++e) {
    require(counts.values[e] <= request.tokens,
            what + ": expert " + std::to_string(e) + " gets " + std::to_string(counts.values[e]) +
                " tokens; a token comes to an expert at most once");
    sum += counts.values[e];
  }
  require(sum == request.tokens * request.top_k,
          what + ": the sum is " + std::to_string(sum) +
              ", not tokens * top_k = " + std::to_string(request.tokens * request.top_k));
}

Request shaped(const Context& context, uint64_t tokens, uint32_t experts, uint32_t top_k) {
  Request request = routing_requests(context.seed()).front();
  request.tokens = tokens;
  request.experts = experts;
  request.top_k = top_k;
  return request;
}

void buffers(Context& context) {
  RouterBench router(context);
  for (const Request& request : routing_requests(context.seed())) {
    router.counts(request);
    if (router.has_assign()) {
      router.assign(request);
    }
    if (router.has_logits()) {
      router.logits<float>(request);
    }
  }
  router.require_served();
}

/// counts() of these requests.
void counts_of(Context& context, std::initializer_list<Request> requests) {
  RouterBench router(context);
  for (const Request& request : requests) {
    check_counts(router, request);
  }
  router.require_served();
}

void counts(Context& context) {
  RouterBench router(context);
  for (Request request : routing_requests(context.seed())) {
    if (request.tokens == 0 || request.experts == 1 || request.top_k == request.experts) {
      continue;
    }
    const auto ask = [&](uint32_t layer, uint64_t micro_batch, uint32_t rank) {
      request.layer = layer;
      request.micro_batch = micro_batch;
      request.rank = rank;
      request.seed = context.seed() + rank;
      check_counts(router, request);
    };
    // A job has hundreds of micro-batches, tens of layers and thousands of ranks.
    for (uint32_t n = 0; n < 256; ++n) {
      ask(n % 61, n, 3 * n);
    }
    ask(1000, uint64_t{1} << 40, 1U << 20);
  }
  router.require_served();
}

void no_tokens(Context& context) {
  counts_of(context,
            {shaped(context, 0, 8, 2), shaped(context, 0, 1, 1), shaped(context, 0, 4, 4)});
}
void one_expert(Context& context) {
  counts_of(context, {shaped(context, 1, 1, 1), shaped(context, 1000, 1, 1)});
}
void all_experts(Context& context) {
  counts_of(context, {shaped(context, 1, 2, 2), shaped(context, 50, 16, 16)});
}
void large(Context& context) {
  counts_of(context, {shaped(context, 1'000'000, 8, 2), shaped(context, 70'000, 1024, 8),
                      shaped(context, 100, 8192, 64)});
}

void check_assignment(RouterBench& router, const Request& request) {
  const Written<uint64_t> expected = router.counts(request);
  const Written<uint32_t> experts = router.assign(request);
  const std::string what = router.words("assign()", request);
  require(expected.served == experts.served,
          what + ": counts() and assign() do not agree on whether they can serve it");
  std::vector<uint64_t> got(request.experts, 0);
  for (uint64_t t = 0; experts.served && t < request.tokens; ++t) {
    const auto begin = experts.values.begin() + static_cast<std::ptrdiff_t>(t * request.top_k);
    std::vector<uint32_t> of_token(begin, begin + request.top_k);
    std::sort(of_token.begin(), of_token.end());
    require(std::adjacent_find(of_token.begin(), of_token.end()) == of_token.end(),
            what + ": token " + std::to_string(t) + " gets the same expert twice");
    for (const uint32_t expert : of_token) {
      require(expert < request.experts, what + ": token " + std::to_string(t) +
                                            " gets the expert " + std::to_string(expert) + " of " +
                                            std::to_string(request.experts));
      ++got[expert];
    }
  }
  for (uint32_t e = 0; experts.served && e < request.experts; ++e) {
    require(got[e] == expected.values[e], what + ": expert " + std::to_string(e) + " comes " +
                                              std::to_string(got[e]) + " times, counts() says " +
                                              std::to_string(expected.values[e]));
  }
}

void assign(Context& context) {
  RouterBench router(context);
  for (const Request& request : routing_requests(context.seed())) {
    check_assignment(router, request);
  }
  router.require_served();
}

float to_float(float value) {
  return value;
}
float to_float(uint16_t bf16) {
  return std::bit_cast<float>(uint32_t{bf16} << 16);
}
/// To the nearest bf16, ties to even.
uint16_t to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
uint16_t to_bf16(uint16_t bf16) {
  return bf16;
}

template <typename T>
void check_logits(RouterBench& router, const Request& request) {
  const Written<uint64_t> expected = router.counts(request);
  const Written<T> logits = router.logits<T>(request);
  const std::string what =
      router.words(sizeof(T) == 4 ? "logits() as f32" : "logits() as bf16", request);
  require(expected.served == logits.served,
          what + ": counts() and logits() do not agree on whether they can serve it");
  if (!logits.served) {
    return;
  }
  const Written<uint32_t> assigned =
      router.has_assign() ? router.assign(request) : Written<uint32_t>{};
  std::vector<uint64_t> got(request.experts, 0);
  std::vector<uint32_t> order(request.experts);
  for (uint64_t t = 0; t < request.tokens; ++t) {
    const std::string token = what + ": token " + std::to_string(t);
    const T* row = logits.values.data() + t * request.experts;
    std::vector<float> rounded;
    for (uint32_t e = 0; e < request.experts; ++e) {
      require(std::isfinite(to_float(row[e])), token + " has a logit that is no finite number");
      rounded.push_back(to_float(to_bf16(row[e])));
    }
    std::sort(rounded.begin(), rounded.end());
    require(std::adjacent_find(rounded.begin(), rounded.end()) == rounded.end(),
            token + " has two logits that are equal when rounded to bf16");
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return to_float(row[a]) > to_float(row[b]); });
    for (uint32_t i = 0; i < request.top_k; ++i) {
      ++got[order[i]];
      require(!assigned.served || assigned.values[t * request.top_k + i] == order[i],
              token + " has the expert " + std::to_string(order[i]) + " at place " +
                  std::to_string(i) + " of its logits, which is not what assign() says");
    }
  }
  require(got == expected.values, what + ": its top experts do not come as often as counts() says");
}

void logits(Context& context) {
  RouterBench router(context);
  for (const Request& request : routing_requests(context.seed())) {
    check_logits<float>(router, request);
    check_logits<uint16_t>(router, request);
  }
  router.require_served();
}

/// All of the above with other options than the defaults, and another micro-batch each time.
void options(Context& context) {
  constexpr uint64_t kRounds = 40;
  RouterBench router(context);
  sdk::Random random(sdk::mix({context.seed(), 5}));
  for (uint64_t round = 0; round < kRounds; ++round) {
    if (!router.draw_options(random)) {
      continue;
    }
    for (Request request : routing_requests(context.seed())) {
      request.micro_batch = round;
      check_counts(router, request);
      if (router.has_assign()) {
        check_assignment(router, request);
      }
      if (router.has_logits()) {
        check_logits<float>(router, request);
      }
    }
  }
  router.require_served();
}

/// Runs `body` where the router offers the function.
void if_offered(Context& context, bool (RouterBench::*offered)() const, void (*body)(Context&)) {
  if (!(RouterBench(context).*offered)()) {
    skip("not offered; the host does it");
  }
  body(context);
}

}  // namespace

void add_router_tests(Suite& suite) {
  const std::string open = kind_test(3, kRouterKind, "open_close");
  const std::string first = kind_test(5, kRouterKind, "buffers");
  const auto add = [&](const char* what, const char* doc, std::function<void(Context&)> run,
                       const std::string& after) {
    suite.push_back({kind_test(5, kRouterKind, what), doc, std::move(run), {after}});
  };
  add("buffers", "It writes its output and nothing around it.", buffers, open);
  add("counts", "Counts sum up to tokens * top_k, none above tokens.", counts, first);
  add("no_tokens", "Without tokens every count is 0.", no_tokens, first);
  add("one_expert", "A single expert gets every token.", one_expert, first);
  add("all_experts", "With top_k = experts every expert gets every token.", all_experts, first);
  add("large", "Counts are right for many tokens and many experts.", large, first);
  add(
      "assign", "An assignment has different experts for a token, as often as the counts say.",
      [](Context& c) { if_offered(c, &RouterBench::has_assign, assign); },
      kind_test(5, kRouterKind, "counts"));
  add(
      "logits", "Logits put the assigned experts on top, without ties in bf16.",
      [](Context& c) { if_offered(c, &RouterBench::has_logits, logits); },
      kind_test(5, kRouterKind, "counts"));
  add("options", "All of this holds with any options within their bounds.", options,
      kind_test(5, kRouterKind, "counts"));
}

}  // namespace prism::conformance
