// SPDX-License-Identifier: Apache-2.0
/// prism.tensor_source/1 for a class with plain methods; what they throw becomes the status
/// (error.hpp).
///
///   class MySource {                        // one object per session
///    public:
///     static constexpr auto kOptions = prism::sdk::options(...);        // optional
///     explicit MySource(const prism::sdk::OptionValues& values);
///     void fill(const prism::sdk::TensorRequest& request, const prism::sdk::Tensor& out);
///   };
///   PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION, prism::sdk::TensorSource<MySource>)
///
/// The contract of fill is that of its function in prism/abi/tensor_source.h.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "prism/abi/tensor_source.h"
#include "prism/sdk/error.hpp"
#include "prism/sdk/options.hpp"
#include "prism/sdk/tensor.hpp"
#include "prism/sdk/text.hpp"

namespace prism::sdk {

/// prism_tensor_request_t; `group` is valid during the call.
struct TensorRequest {
  uint64_t seed = 0;
  std::string_view group{};
  uint64_t call = 0;
  uint32_t rank = 0;
  std::optional<uint32_t> peer{};  ///< none: the tensor comes of several ranks
  int32_t kind = 0;                ///< PRISM_COMM_
  uint32_t part = 0;
};

template <typename T>
class TensorSource {
  static_assert(std::constructible_from<T, const OptionValues&>,
                "a tensor source needs the constructor T(const prism::sdk::OptionValues&)");
  static_assert(
      requires(T & t, const TensorRequest& request, const Tensor& out) {
        { t.fill(request, out) } -> std::same_as<void>;
      },
      "a tensor source needs the method void fill(const prism::sdk::TensorRequest&, const "
      "prism::sdk::Tensor&)");

 public:
  static constexpr std::string_view kId = PRISM_TENSOR_SOURCE_1;
  static const void* table() noexcept { return &kTable; }

 private:
  using Session = prism_tensor_source_session_t;

  static prism_status_t open(const prism_option_value_t* values, uint64_t value_count,
                             Session** session, const prism_error_sink_t* err) noexcept {
    return guarded(err, [&] {
      auto source = std::make_unique<T>(OptionValues(detail::options_of<T>(), values, value_count));
      *session = reinterpret_cast<Session*>(source.release());
    });
  }

  static prism_status_t fill(Session* session, const prism_tensor_request_t* request,
                             const prism_tensor_t* out, const prism_error_sink_t* err) noexcept {
    return guarded(err, [&] {
      if (request == nullptr || !PRISM_HAS(request, prism_tensor_request_t, part)) {
        throw Error(PRISM_STATUS_INVALID_ARGUMENT, "the host gave no tensor request");
      }
      TensorRequest copied;
      copied.seed = request->seed;
      copied.group = view(request->group);
      copied.call = request->call;
      copied.rank = request->rank;
      if (request->peer >= 0) {
        copied.peer = static_cast<uint32_t>(request->peer);
      }
      copied.kind = request->kind;
      copied.part = request->part;
      reinterpret_cast<T*>(session)->fill(copied, Tensor(out));
    });
  }

  static void close(Session* session) noexcept { delete reinterpret_cast<T*>(session); }

  static constexpr prism_tensor_source_t kTable = {
      sizeof(prism_tensor_source_t), 0, detail::options_of<T>(), &open, &fill, &close};
};

}  // namespace prism::sdk
