// SPDX-License-Identifier: Apache-2.0
/// prism.router/1 for a class with plain methods; what they throw becomes the status (error.hpp).
///
///   class MyRouter {                        // one object per session
///    public:
///     static constexpr auto kOptions = prism::sdk::options(...);        // optional
///     explicit MyRouter(const prism::sdk::OptionValues& values);
///     void counts(const prism::sdk::RoutingRequest& request, std::span<uint64_t> counts);
///     // optional, in place of what the host would do:
///     void assign(const prism::sdk::RoutingRequest& request, std::span<uint32_t> experts);
///     void logits(const prism::sdk::RoutingRequest& request, const prism::sdk::Tensor& out);
///   };
///   PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION, prism::sdk::Router<MyRouter>)
///
/// The contract of each method is that of its function in prism/abi/router.h. What is written to
/// has the right length: `experts`, `tokens * top_k`, and [tokens, experts] numbers.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "prism/abi/router.h"
#include "prism/sdk/error.hpp"
#include "prism/sdk/options.hpp"
#include "prism/sdk/tensor.hpp"

namespace prism::sdk {

/// prism_routing_request_t, checked: 1 <= top_k <= experts, and tokens * experts fits into 63 bits.
struct RoutingRequest {
  uint64_t seed = 0;
  uint64_t tokens = 0;
  uint64_t micro_batch = 0;
  uint32_t experts = 1;
  uint32_t top_k = 1;
  uint32_t layer = 0;
  uint32_t rank = 0;
};

/// Throws Error INVALID_ARGUMENT.
inline RoutingRequest checked(const prism_routing_request_t* c) {
  if (c == nullptr || !PRISM_HAS(c, prism_routing_request_t, rank)) {
    throw Error(PRISM_STATUS_INVALID_ARGUMENT, "the host gave no routing request");
  }
  if (c->experts == 0) {
    throw Error(PRISM_STATUS_INVALID_ARGUMENT, "experts must be at least 1");
  }
  if (c->top_k == 0 || c->top_k > c->experts) {
    throw Error(PRISM_STATUS_INVALID_ARGUMENT, "top_k must be between 1 and the " +
                                                   std::to_string(c->experts) + " experts, not " +
                                                   std::to_string(c->top_k));
  }
  if (c->tokens > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) / c->experts) {
    throw Error(PRISM_STATUS_INVALID_ARGUMENT,
                std::to_string(c->tokens) + " tokens are more than can be counted");
  }
  return {c->seed, c->tokens, c->micro_batch, c->experts, c->top_k, c->layer, c->rank};
}

template <typename T>
class Router {
  static_assert(std::constructible_from<T, const OptionValues&>,
                "a router needs the constructor T(const prism::sdk::OptionValues&)");
  static_assert(
      requires(T & t, const RoutingRequest& request, std::span<uint64_t> counts) {
        { t.counts(request, counts) } -> std::same_as<void>;
      },
      "a router needs the method void counts(const prism::sdk::RoutingRequest&, "
      "std::span<uint64_t>)");

 public:
  static constexpr std::string_view kId = PRISM_ROUTER_1;
  static const void* table() noexcept { return &kTable; }

 private:
  using Session = prism_router_session_t;
  using Request = prism_routing_request_t;
  using Err = prism_error_sink_t;

  static T& self(Session* session) { return *reinterpret_cast<T*>(session); }

  static prism_status_t open(const prism_option_value_t* values, uint64_t value_count,
                             Session** session, const Err* err) noexcept {
    return guarded(err, [&] {
      auto router = std::make_unique<T>(OptionValues(detail::options_of<T>(), values, value_count));
      *session = reinterpret_cast<Session*>(router.release());
    });
  }

  static prism_status_t counts(Session* session, const Request* request, uint64_t* counts,
                               const Err* err) noexcept {
    return guarded(err, [&] {
      const RoutingRequest r = checked(request);
      self(session).counts(r, std::span<uint64_t>(counts, r.experts));
    });
  }

  static prism_status_t assign(Session* session, const Request* request, uint32_t* experts,
                               const Err* err) noexcept {
    return guarded(err, [&] {
      const RoutingRequest r = checked(request);
      self(session).assign(r, std::span<uint32_t>(experts, r.tokens * r.top_k));
    });
  }

  static prism_status_t logits(Session* session, const Request* request, const prism_tensor_t* out,
                               const Err* err) noexcept {
    return guarded(err, [&] {
      const RoutingRequest r = checked(request);
      const Tensor tensor(out);
      if (tensor.elements() != r.tokens * r.experts) {
        throw Error(PRISM_STATUS_INVALID_ARGUMENT, "the logits need a tensor [tokens, experts]");
      }
      self(session).logits(r, tensor);
    });
  }

  static void close(Session* session) noexcept { delete reinterpret_cast<T*>(session); }

  static constexpr prism_router_t describe() {
    prism_router_t table{};
    table.struct_size = sizeof(prism_router_t);
    table.options = detail::options_of<T>();
    table.open = &open;
    table.counts = &counts;
    if constexpr (requires { &T::assign; }) {
      static_assert(
          requires(T & t, const RoutingRequest& request, std::span<uint32_t> experts) {
            { t.assign(request, experts) } -> std::same_as<void>;
          },
          "a router's method assign must be void assign(const prism::sdk::RoutingRequest&, "
          "std::span<uint32_t>)");
      table.assign = &assign;
    }
    if constexpr (requires { &T::logits; }) {
      static_assert(
          requires { &T::assign; }, "a router with the method logits needs the method assign too");
      static_assert(
          requires(T & t, const RoutingRequest& request, const Tensor& out) {
            { t.logits(request, out) } -> std::same_as<void>;
          },
          "a router's method logits must be void logits(const prism::sdk::RoutingRequest&, const "
          "prism::sdk::Tensor&)");
      table.logits = &logits;
    }
    table.close = &close;
    return table;
  }

  static constexpr prism_router_t kTable = describe();
};

}  // namespace prism::sdk
