// SPDX-License-Identifier: Apache-2.0
#include "sdk/conformance/tensor_source_interface.hpp"

#include "prism/sdk/tensor.hpp"

namespace prism::conformance {
namespace {

constexpr int32_t kFirstDtype = PRISM_DTYPE_U8;
constexpr int32_t kLastDtype = PRISM_DTYPE_U64;
constexpr char kGroup[] = "dp";

FillCase fill_case(uint64_t seed, int32_t dtype, std::vector<int64_t> shape) {
  prism_tensor_request_t request{};
  request.struct_size = sizeof request;
  request.seed = seed;
  request.group = {kGroup, sizeof kGroup - 1};
  request.peer = -1;
  request.kind = PRISM_COMM_ALL_REDUCE;
  return {request, dtype, std::move(shape)};
}

class TensorSourceInterface : public Interface {
 public:
  TensorSourceInterface(const prism_tensor_source_t& table, uint64_t seed)
      : table_(table), cases_(fill_cases(seed)), seed_(seed) {}

  const prism_option_table_t& options() const override { return table_.options; }
  prism_status_t open(const prism_option_value_t* values, uint64_t count, void** session,
                      const prism_error_sink_t* err) const override {
    return table_.open(values, count, reinterpret_cast<prism_tensor_source_session_t**>(session),
                       err);
  }
  void close(void* session) const override { table_.close(of(session)); }

  size_t request_count() const override { return cases_.size(); }
  std::string describe(size_t request) const override { return cases_[request].describe(); }
  prism_status_t serve(void* session, size_t index, Placement placement, std::string& output,
                       const prism_error_sink_t* err) const override {
    const FillCase& wanted = cases_[index];
    GuardedBuffer buffer(wanted.bytes(), 0x5a);
    const Placed<prism_tensor_request_t> request(wanted.request, placement);
    const Placed<prism_tensor_t> tensor(wanted.tensor(buffer.data()), placement);
    const prism_status_t status = table_.fill(of(session), request.get(), tensor.get(), err);
    if (status == PRISM_STATUS_OK) {
      output += buffer.copy();
    }
    return status;
  }

  size_t invalid_count() const override { return 3; }
  std::string describe_invalid(size_t request) const override {
    constexpr const char* kWhat[] = {"fill() of a tensor without memory",
                                     "fill() of the unknown dtype 99",
                                     "fill() of a tensor of -1 elements"};
    return kWhat[request];
  }
  prism_status_t serve_invalid(void* session, size_t request,
                               const prism_error_sink_t* err) const override {
    FillCase wanted = fill_case(seed_, PRISM_DTYPE_F32, {4});
    GuardedBuffer buffer(64, 0x5a);
    prism_tensor_t tensor = wanted.tensor(buffer.data());
    if (request == 0) {
      tensor.data = nullptr;
    } else if (request == 1) {
      tensor.dtype = 99;
    } else {
      wanted.shape[0] = -1;
    }
    return table_.fill(of(session), &wanted.request, &tensor, err);
  }

 private:
  static prism_tensor_source_session_t* of(void* session) {
    return static_cast<prism_tensor_source_session_t*>(session);
  }

  const prism_tensor_source_t& table_;
  std::vector<FillCase> cases_;
  uint64_t seed_;
};

}  // namespace

uint64_t FillCase::elements() const {
  uint64_t product = 1;
  for (const int64_t extent : shape) {
    product *= static_cast<uint64_t>(extent);
  }
  return product;
}

uint64_t FillCase::bytes() const {
  return elements() * sdk::element_size(dtype);
}

prism_tensor_t FillCase::tensor(void* data) const {
  prism_tensor_t tensor{};
  tensor.struct_size = sizeof tensor;
  tensor.data = elements() == 0 ? nullptr : data;
  tensor.device_type = PRISM_DEVICE_CPU;
  tensor.dtype = dtype;
  tensor.ndim = static_cast<uint32_t>(shape.size());
  tensor.shape = shape.data();
  return tensor;
}

std::string FillCase::describe() const {
  std::string text = "fill() of " + std::string(sdk::dtype_name(dtype)) + "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + "], call " + std::to_string(request.call) + ", rank " +
         std::to_string(request.rank) + ", peer " + std::to_string(request.peer) + ", seed " +
         std::to_string(request.seed);
}

std::vector<FillCase> fill_cases(uint64_t seed) {
  std::vector<FillCase> cases;
  for (int32_t dtype = kFirstDtype; dtype <= kLastDtype; ++dtype) {
    cases.push_back(fill_case(seed, dtype, {3, 5}));
  }
  // In every dtype too: most sources have values of one or two only.
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{}, {1}, {2, 3, 4}, {1000}, {0}, {4, 0}}) {
    for (int32_t dtype = kFirstDtype; dtype <= kLastDtype; ++dtype) {
      cases.push_back(fill_case(seed, dtype, shape));
    }
  }
  uint32_t n = 0;
  for (FillCase& one : cases) {
    one.request.call = n / 2;
    one.request.rank = n % 4;
    one.request.part = n % 2;
    if (n % 3 == 1) {
      one.request.kind = PRISM_COMM_RECV;
      one.request.peer = static_cast<int32_t>(n);
    }
    ++n;
  }
  return cases;
}

const Kind kTensorSourceKind = {
    "tensor_source", PRISM_TENSOR_SOURCE_1,
    [](const void* table, const Subject& /*subject*/, uint64_t seed) -> std::unique_ptr<Interface> {
      return std::make_unique<TensorSourceInterface>(
          *static_cast<const prism_tensor_source_t*>(table), seed);
    }};

}  // namespace prism::conformance
