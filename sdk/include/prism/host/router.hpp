// SPDX-License-Identifier: Apache-2.0
/// A router plugin as the host uses it, in the program and inside a rank: what the plugin writes is
/// checked, and what it does not offer is made by prism/routing/.
///
///   prism::host::Router router("plugin 'zipf' (libprism_zipf.so 0.1.0)", table);
///   prism::host::Outcome outcome = router.open(values);
///   if (outcome.ok()) { outcome = router.counts(request, counts); }
///   if (outcome.ok()) { outcome = router.assign(request, counts, experts); }
///   if (outcome.ok()) { outcome = router.logits(request, experts, tensor); }
///
/// Errors: the plugin's own code and words; INTERNAL where what it wrote is wrong, which is a
/// mistake of the plugin; INVALID_ARGUMENT, without the plugin's name, for a request or a size that
/// cannot be right; RESOURCE_EXHAUSTED. Nothing is thrown, except std::bad_alloc where even the
/// message found no memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "prism/abi/router.h"
#include "prism/host/call_notes.hpp"
#include "prism/host/outcome.hpp"
#include "prism/host/sinks.hpp"
#include "prism/routing/assign.hpp"
#include "prism/routing/devices.hpp"
#include "prism/routing/logits.hpp"
#include "prism/routing/shape.hpp"
#include "prism/sdk/error.hpp"
#include "prism/sdk/random.hpp"
#include "prism/sdk/tensor.hpp"

namespace prism::host {

class Router {
 public:
  /// `name` begins the messages. `table` passed check_router (bind.hpp) and outlives the object.
  Router(std::string name, const prism_router_t* table) : name_(std::move(name)), table_(*table) {}
  /// Thread: [control].
  ~Router() {
    if (session_ != nullptr) {
      const NotedCall call(name_, "close");
      table_.close(session_);
    }
  }
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  /// Once, before the other functions. `values`: one for each row of the table's options, in its
  /// order. Thread: [control].
  Outcome open(std::span<const prism_option_value_t> values) {
    Outcome outcome = call("open", [&](const prism_error_sink_t* err) {
      return table_.open(values.data(), values.size(), &session_, err);
    });
    if (outcome.ok() && session_ == nullptr) {
      return mistake("open", "it gave no session");
    }
    return outcome;
  }

  /// Writes how many tokens each expert gets; request.experts numbers. Thread: [worker].
  Outcome counts(const prism_routing_request_t& request, std::span<uint64_t> counts) {
    const routing::Shape shape = shape_of(request);
    if (Outcome fits = check(shape, counts.size(), shape.experts); !fits.ok()) {
      return fits;
    }
    std::fill(counts.begin(), counts.end(), std::numeric_limits<uint64_t>::max());
    Outcome outcome = call("counts", [&](const prism_error_sink_t* err) {
      return table_.counts(session_, &request, counts.data(), err);
    });
    if (!outcome.ok()) {
      return outcome;
    }
    return checked("counts", [&] { return routing::check_counts(shape, counts); });
  }

  /// Writes the experts of each token, tokens * top_k numbers (as prism_router_t::assign), for the
  /// numbers that counts() wrote for this request. Thread: [worker].
  Outcome assign(const prism_routing_request_t& request, std::span<const uint64_t> counts,
                 std::span<uint32_t> experts) {
    const routing::Shape shape = shape_of(request);
    if (Outcome fits = check(shape, experts.size(), shape.tokens * shape.top_k); !fits.ok()) {
      return fits;
    }
    if (table_.assign == nullptr) {
      const uint64_t seed =
          sdk::mix({request.seed, request.layer, request.micro_batch, request.rank});
      return own([&] { return routing::assign(shape, counts, seed, experts); });
    }
    std::fill(experts.begin(), experts.end(), std::numeric_limits<uint32_t>::max());
    Outcome outcome = call("assign", [&](const prism_error_sink_t* err) {
      return table_.assign(session_, &request, experts.data(), err);
    });
    if (!outcome.ok()) {
      return outcome;
    }
    return checked("assign", [&] { return routing::check_assignment(shape, counts, experts); });
  }

  /// Writes logits that lead to `experts`, which assign() wrote for this request. `out`: shape
  /// [tokens, experts], f32 or bf16, on the CPU, without gaps. Thread: [worker].
  Outcome logits(const prism_routing_request_t& request, std::span<const uint32_t> experts,
                 const prism_tensor_t& out) {
    const routing::Shape shape = shape_of(request);
    if (Outcome fits = check(shape, experts.size(), shape.tokens * shape.top_k); !fits.ok()) {
      return fits;
    }
    if (table_.logits == nullptr) {
      return own([&] {
        return with_logits(shape, out,
                           [&](auto logits) { return routing::logits(shape, experts, logits); });
      });
    }
    const Outcome usable =
        own([&] { return with_logits(shape, out, [](auto) { return std::string(); }); });
    if (!usable.ok()) {
      return usable;
    }
    Outcome outcome = call("logits", [&](const prism_error_sink_t* err) {
      return table_.logits(session_, &request, &out, err);
    });
    if (!outcome.ok()) {
      return outcome;
    }
    return checked("logits", [&] {
      return with_logits(shape, out, [&]<typename Logit>(std::span<Logit> logits) {
        return routing::check_logits(shape, experts, std::span<const Logit>(logits));
      });
    });
  }

  /// Writes what each of `devices.size()` devices gets of what assign() wrote for this request
  /// (prism/routing/devices.hpp). Thread: any.
  static Outcome tokens_per_device(const prism_routing_request_t& request,
                                   std::span<const uint32_t> experts,
                                   std::span<routing::DeviceTokens> devices) {
    return own([&] { return routing::tokens_per_device(shape_of(request), experts, devices); });
  }

 private:
  static routing::Shape shape_of(const prism_routing_request_t& request) {
    return {request.tokens, request.experts, request.top_k};
  }

  static Outcome check(const routing::Shape& shape, uint64_t size, uint64_t expected) {
    std::string problem = routing::check_shape(shape);
    if (problem.empty() && size != expected) {
      problem = "there is room for " + std::to_string(size) + " numbers, not for the " +
                std::to_string(expected) + " that are needed";
    }
    return problem.empty() ? Outcome{} : Outcome{PRISM_STATUS_INVALID_ARGUMENT, problem};
  }

  /// Calls `use` with all logits as std::span<uint16_t> or std::span<float>. Throws sdk::Error for
  /// a tensor of another kind.
  template <typename Use>
  static std::string with_logits(const routing::Shape& shape, const prism_tensor_t& out, Use use) {
    const sdk::Tensor tensor(&out);
    if (tensor.elements() != shape.tokens * shape.experts) {
      return "logits of " + std::to_string(shape.tokens) + " tokens for " +
             std::to_string(shape.experts) + " experts do not fit a tensor of " +
             std::to_string(tensor.elements()) + " elements";
    }
    switch (tensor.dtype()) {
      case PRISM_DTYPE_BF16:
        return use(tensor.as<uint16_t>());
      case PRISM_DTYPE_F32:
        return use(tensor.as<float>());
      default:
        throw sdk::Error(
            PRISM_STATUS_UNIMPLEMENTED,
            "logits are f32 or bf16, not " + std::string(sdk::dtype_name(tensor.dtype())));
    }
  }

  /// The outcome of a function of ours that returns why not, or "".
  template <typename Function>
  static Outcome own(Function function) {
    std::string problem;
    const ErrorSink error;
    const prism_status_t status = sdk::guarded(error.c(), [&] { problem = function(); });
    if (status != PRISM_STATUS_OK) {
      return {status, error.message(status)};
    }
    return problem.empty() ? Outcome{} : Outcome{PRISM_STATUS_INVALID_ARGUMENT, problem};
  }

  /// The same of a check of what the plugin's `function` wrote.
  template <typename Check>
  Outcome checked(const char* function, Check check) const {
    const Outcome outcome = own(check);
    return outcome.code == PRISM_STATUS_INVALID_ARGUMENT ? mistake(function, outcome.text)
                                                         : outcome;
  }

  template <typename Call>
  Outcome call(const char* function, Call call) const {
    const ErrorSink error;
    const prism_status_t status = [&] {
      const NotedCall noted(name_, function);
      return call(error.c());
    }();
    if (status == PRISM_STATUS_OK) {
      return {};
    }
    return {status, name_ + ": " + function + "(): " + error.message(status)};
  }

  Outcome mistake(const char* function, const std::string& problem) const {
    return {PRISM_STATUS_INTERNAL,
            name_ + ": " + function + "(): " + problem + "; this is a mistake of the plugin"};
  }

  std::string name_;
  const prism_router_t& table_;
  prism_router_session_t* session_ = nullptr;
};

}  // namespace prism::host
