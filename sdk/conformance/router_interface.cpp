// SPDX-License-Identifier: Apache-2.0
#include "sdk/conformance/router_interface.hpp"

#include <array>

namespace prism::conformance {
namespace {

prism_routing_request_t request_of(uint64_t seed, uint64_t tokens, uint32_t experts,
                                   uint32_t top_k) {
  prism_routing_request_t request{};
  request.struct_size = sizeof request;
  request.seed = seed;
  request.tokens = tokens;
  request.experts = experts;
  request.top_k = top_k;
  return request;
}

struct Shape {
  uint64_t tokens;
  uint32_t experts;
  uint32_t top_k;
};

class RouterInterface : public Interface {
 public:
  RouterInterface(const prism_router_t& table, uint64_t seed)
      : table_(table), requests_(routing_requests(seed)), seed_(seed) {}

  const prism_option_table_t& options() const override { return table_.options; }
  prism_status_t open(const prism_option_value_t* values, uint64_t count, void** session,
                      const prism_error_sink_t* err) const override {
    return table_.open(values, count, reinterpret_cast<prism_router_session_t**>(session), err);
  }
  void close(void* session) const override { table_.close(of(session)); }

  size_t request_count() const override { return requests_.size(); }
  std::string describe(size_t request) const override {
    return conformance::describe("routing", requests_[request]);
  }
  prism_status_t serve(void* session, size_t index, Placement placement, std::string& output,
                       const prism_error_sink_t* err) const override {
    const prism_routing_request_t& plain = requests_[index];
    const Placed<prism_routing_request_t> request(plain, placement);
    GuardedBuffer counts(plain.experts * sizeof(uint64_t), 0x5a);
    prism_status_t status =
        table_.counts(of(session), request.get(), static_cast<uint64_t*>(counts.data()), err);
    if (status != PRISM_STATUS_OK) {
      return status;
    }
    output += counts.copy();
    if (table_.assign != nullptr) {
      GuardedBuffer experts(plain.tokens * plain.top_k * sizeof(uint32_t), 0x5a);
      status =
          table_.assign(of(session), request.get(), static_cast<uint32_t*>(experts.data()), err);
      if (status != PRISM_STATUS_OK) {
        return status;
      }
      output += experts.copy();
    }
    return table_.logits == nullptr ? PRISM_STATUS_OK
                                    : logits(session, plain, request.get(), placement, output, err);
  }

  size_t invalid_count() const override { return kInvalid.size(); }
  std::string describe_invalid(size_t request) const override {
    const Shape& shape = kInvalid[request];
    return conformance::describe("counts()",
                                 request_of(seed_, shape.tokens, shape.experts, shape.top_k));
  }
  prism_status_t serve_invalid(void* session, size_t request,
                               const prism_error_sink_t* err) const override {
    const Shape& shape = kInvalid[request];
    const prism_routing_request_t invalid =
        request_of(seed_, shape.tokens, shape.experts, shape.top_k);
    GuardedBuffer counts(64 * sizeof(uint64_t), 0x5a);
    return table_.counts(of(session), &invalid, static_cast<uint64_t*>(counts.data()), err);
  }

 private:
  static constexpr std::array<Shape, 4> kInvalid = {
      {{8, 4, 0}, {8, 4, 5}, {8, 0, 1}, {~uint64_t{0}, 4, 2}}};

  static prism_router_session_t* of(void* session) {
    return static_cast<prism_router_session_t*>(session);
  }

  prism_status_t logits(void* session, const prism_routing_request_t& plain,
                        const prism_routing_request_t* request, Placement placement,
                        std::string& output, const prism_error_sink_t* err) const {
    GuardedBuffer values(plain.tokens * plain.experts * sizeof(float), 0x5a);
    const int64_t shape[] = {static_cast<int64_t>(plain.tokens), plain.experts};
    prism_tensor_t tensor{};
    tensor.struct_size = sizeof tensor;
    tensor.data = values.data();
    tensor.device_type = PRISM_DEVICE_CPU;
    tensor.dtype = PRISM_DTYPE_F32;
    tensor.ndim = 2;
    tensor.shape = shape;
    const Placed<prism_tensor_t> placed(tensor, placement);
    const prism_status_t status = table_.logits(of(session), request, placed.get(), err);
    if (status == PRISM_STATUS_OK) {
      output += values.copy();
    }
    return status;
  }

  const prism_router_t& table_;
  std::vector<prism_routing_request_t> requests_;
  uint64_t seed_;
};

}  // namespace

std::vector<prism_routing_request_t> routing_requests(uint64_t seed) {
  constexpr Shape kShapes[] = {{64, 8, 2}, {1, 4, 1},    {7, 16, 16}, {33, 5, 3},
                               {0, 8, 2},  {200, 64, 8}, {64, 8, 2},  {5, 1, 1}};
  std::vector<prism_routing_request_t> requests;
  uint32_t n = 0;
  for (const Shape& shape : kShapes) {
    prism_routing_request_t request = request_of(seed, shape.tokens, shape.experts, shape.top_k);
    request.layer = n % 3;
    request.micro_batch = n / 2;
    request.rank = 5 * n;
    requests.push_back(request);
    ++n;
  }
  return requests;
}

std::string describe(const char* function, const prism_routing_request_t& request) {
  return std::string(function) + " with " + std::to_string(request.tokens) + " tokens, " +
         std::to_string(request.experts) + " experts, top_k " + std::to_string(request.top_k) +
         ", layer " + std::to_string(request.layer) + ", micro_batch " +
         std::to_string(request.micro_batch) + ", rank " + std::to_string(request.rank) +
         ", seed " + std::to_string(request.seed);
}

const Kind kRouterKind = {
    "router", PRISM_ROUTER_1,
    [](const void* table, const Subject& /*subject*/, uint64_t seed) -> std::unique_ptr<Interface> {
      return std::make_unique<RouterInterface>(*static_cast<const prism_router_t*>(table), seed);
    }};

}  // namespace prism::conformance
