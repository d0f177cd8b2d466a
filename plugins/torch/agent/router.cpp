// SPDX-License-Identifier: Apache-2.0
#include "plugins/torch/agent/router.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "plugins/torch/agent/session.hpp"
#include "plugins/torch/agent/values.hpp"
#include "prism/wire/options.hpp"

namespace prism::torch_agent {
namespace {

constexpr const char* kPlace = "[plugins] router";

void check(const host::Outcome& outcome) {
  TORCH_CHECK(outcome.ok(), outcome.text);
}

uint32_t number(int64_t value, int64_t least, const char* what) {
  TORCH_CHECK(value >= least && value <= std::numeric_limits<uint32_t>::max(), what,
              " must be at least ", least, " and fit into 32 bits, not ", value);
  return static_cast<uint32_t>(value);
}

prism_routing_request_t request_of(const Routing& routing, uint32_t rank) {
  TORCH_CHECK(routing.tokens >= 0 && routing.micro_batch >= 0,
              "tokens and micro_batch must not be negative");
  prism_routing_request_t request{};
  request.struct_size = sizeof request;
  request.seed = Session::get().seed();
  request.tokens = static_cast<uint64_t>(routing.tokens);
  request.micro_batch = static_cast<uint64_t>(routing.micro_batch);
  request.experts = number(routing.experts, 1, "experts");
  request.top_k = number(routing.top_k, 1, "top_k");
  request.layer = number(routing.layer, 0, "layer");
  request.rank = rank;
  // Before memory is made for the answer.
  TORCH_CHECK(request.top_k <= request.experts, "top_k = ", request.top_k, " of ", request.experts,
              " experts");
  return request;
}

template <typename Number>
at::Tensor as_tensor(const std::vector<Number>& numbers, at::IntArrayRef shape) {
  at::Tensor tensor = at::empty(shape, at::kLong);
  std::transform(numbers.begin(), numbers.end(), tensor.data_ptr<int64_t>(),
                 [](Number n) { return static_cast<int64_t>(n); });
  return tensor;
}

}  // namespace

RankRouter& RankRouter::get() {
  // Never destroyed: see Session.
  static RankRouter& router = *new RankRouter;
  return router;
}

void RankRouter::open(const std::optional<wire::Plugin>& plugin) {
  if (!plugin) {
    return;
  }
  const Bound bound = bind_plugin(*plugin, PRISM_ROUTER_1, kPlace);
  library_ = bound.library;
  router_ = std::make_unique<host::Router>(library_->name(),
                                           static_cast<const prism_router_t*>(bound.table));
  const host::Outcome outcome = router_->open(wire::from_wire(plugin->options));
  if (!outcome.ok()) {
    end(kAborted, std::string(kPlace) + ": " + outcome.text);
  }
}

void RankRouter::close() {
  if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) {
    router_.reset();
    library_.reset();
  }
}

at::Tensor RankRouter::counts(const Routing& routing) {
  const prism_routing_request_t request = request_of(routing, Session::get().rank());
  const std::lock_guard lock(mutex_);
  std::vector<uint64_t> counts;
  write_counts(request, counts);
  return as_tensor(counts, {routing.experts});
}

at::Tensor RankRouter::received(const Routing& routing, at::IntArrayRef ranks) {
  const auto members = static_cast<int64_t>(ranks.size());
  const auto* own = std::find(ranks.begin(), ranks.end(), int64_t{Session::get().rank()});
  TORCH_CHECK(own != ranks.end(), "rank ", Session::get().rank(),
              " is none of those that hold experts");
  TORCH_CHECK(routing.experts % members == 0, routing.experts, " experts do not lie evenly on ",
              members, " ranks");
  const int64_t held = routing.experts / members;
  const std::lock_guard lock(mutex_);
  std::vector<uint64_t> counts;
  std::vector<uint64_t> arriving;
  for (const int64_t rank : ranks) {
    write_counts(request_of(routing, number(rank, 0, "a rank")), counts);
    const auto first = counts.begin() + (own - ranks.begin()) * held;
    arriving.insert(arriving.end(), first, first + held);
  }
  return as_tensor(arriving, {members, held});
}

at::Tensor RankRouter::assign(const Routing& routing) {
  const prism_routing_request_t request = request_of(routing, Session::get().rank());
  const std::lock_guard lock(mutex_);
  std::vector<uint32_t> experts;
  write_experts(request, experts);
  return as_tensor(experts, {routing.tokens, routing.top_k});
}

at::Tensor RankRouter::logits(const Routing& routing, at::ScalarType dtype) {
  const prism_routing_request_t request = request_of(routing, Session::get().rank());
  const std::lock_guard lock(mutex_);
  std::vector<uint32_t> experts;
  write_experts(request, experts);
  const at::Tensor out = at::empty({routing.tokens, routing.experts}, dtype);
  prism_tensor_t tensor{};
  tensor.struct_size = sizeof tensor;
  tensor.data = out.data_ptr();
  tensor.device_type = PRISM_DEVICE_CPU;
  tensor.dtype = dtype_of(dtype);
  tensor.ndim = 2;
  tensor.shape = out.sizes().data();
  check(router_->logits(request, experts, tensor));
  return out;
}

void RankRouter::write_counts(const prism_routing_request_t& request,
                              std::vector<uint64_t>& counts) {
  TORCH_CHECK(router_ != nullptr, "the experiment names no router: set [plugins] router");
  counts.resize(request.experts);
  check(router_->counts(request, counts));
}

void RankRouter::write_experts(const prism_routing_request_t& request,
                               std::vector<uint32_t>& experts) {
  std::vector<uint64_t> counts;
  write_counts(request, counts);
  experts.resize(request.tokens * request.top_k);
  check(router_->assign(request, counts, experts));
}

}  // namespace prism::torch_agent
