// SPDX-License-Identifier: Apache-2.0
/// A host for unit tests of plugins: no program, no dynamic loading. The test is linked with the
/// plugin's own sources (prism_add_plugin_test) and calls it through its entry, as the host does:
///
///   FakeHost host;
///   Plugin plugin(prism_plugin_v1(), host);                    // init, and deinit at the end
///   RouterSession router(plugin, {{"exponent", "1.5"}});        // values as in the experiment
///   file std::vector<uint64_t> counts = router.counts({.tokens = 100, .experts = 8, .top_k = 2});
///   std::string words = failure([&] { router.counts({.experts = 0}); });
///
/// What a plugin reports arrives as the exception Failure. Not thread-safe, the log apart.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "prism/abi/plugin.h"
#include "prism/abi/router.h"
#include "prism/abi/tensor_source.h"
#include "prism/host/bind.hpp"
#include "prism/host/sinks.hpp"
#include "prism/sdk/router.hpp"
#include "prism/sdk/tensor_source.hpp"
#include "prism/sdk/testing/option_values.hpp"
#include "prism/sdk/testing/recording_log.hpp"

extern "C" const prism_plugin_t* prism_plugin_v1() noexcept;

namespace prism::sdk::testing {

/// A function of the plugin returned a status other than OK; what() is the plugin's message.
class Failure : public std::runtime_error {
 public:
  Failure(prism_status_t code, const std::string& message)
      : std::runtime_error(message), code_(code) {}
  prism_status_t code() const noexcept { return code_; }

 private:
  prism_status_t code_;
};

/// The message of the Failure that `body` throws; empty when it throws none.
template <std::invocable Body>
std::string failure(Body&& body) {
  try {
    body();
  } catch (const Failure& caught) {
    return caught.what();
  }
  return {};
}

/// The table that a plugin gets at init. Must outlive the plugin.
class FakeHost {
 public:
  /// Keeps lines of `level` (PRISM_LOG_) and above.
  explicit FakeHost(int32_t level = PRISM_LOG_TRACE)
      : level_(level), table_{sizeof(prism_host_t), 0,        PRISM_ABI_MAJOR,
                              PRISM_ABI_MINOR,      0,        this,
                              to_c("0.0.0"),        &enabled, &write} {}
  FakeHost(const FakeHost&) = delete;
  FakeHost& operator=(const FakeHost&) = delete;

  const prism_host_t* c() const { return &table_; }
  const RecordingLog& log() const { return log_; }

 private:
  static uint8_t enabled(void* ctx, int32_t level) noexcept {
    return level >= static_cast<FakeHost*>(ctx)->level_ ? 1 : 0;
  }
  static void write(void* ctx, int32_t level, prism_str_t message) noexcept {
    static_cast<FakeHost*>(ctx)->log_.add(level, view(message));
  }

  int32_t level_;
  RecordingLog log_;
  prism_host_t table_;
};

namespace detail {
inline void check(prism_status_t status, const host::ErrorSink& error) {
  if (status != PRISM_STATUS_OK) {
    throw Failure(status, error.message(status));
  }
}
}  // namespace detail

/// An initialised plugin.
class Plugin {
 public:
  /// Throws std::runtime_error for an entry table that no host would take, Failure when init fails.
  Plugin(const prism_plugin_t* table, const FakeHost& host) : table_(table) {
    constexpr bool kUsesDrafts = false;
    if (const std::string why = host::check_plugin(table, kUsesDrafts); !why.empty()) {
      throw std::runtime_error("the plugin cannot be used: " + why);
    }
    if (table->init != nullptr) {
      const host::ErrorSink error;
      detail::check(table->init(host.c(), error.c()), error);
    }
  }
  ~Plugin() {
    if (table_->deinit != nullptr) {
      table_->deinit();
    }
  }
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  /// The table of that interface, checked. Throws std::runtime_error.
  template <typename Table>
  const Table& interface(std::string_view id) const {
    const void* table = table_->get_interface(to_c(id));
    if (const std::string why = host::check_interface(id, table); !why.empty()) {
      throw std::runtime_error("the plugin cannot be used: " + why);
    }
    return *static_cast<const Table*>(table);
  }

 private:
  const prism_plugin_t* table_;
};

/// An open session of an interface, closed at the end. Must not outlive the plugin.
template <typename Table, typename Handle>
class Session {
 public:
  /// Throws std::invalid_argument for options that the table does not have or take, Failure when
  /// open fails.
  Session(const Plugin& plugin, std::string_view id, const Options& options)
      : table_(plugin.interface<Table>(id)) {
    const OptionTexts values(table_.options, options);
    const host::ErrorSink error;
    detail::check(table_.open(values.data(), values.size(), &handle_, error.c()), error);
    if (handle_ == nullptr) {
      throw std::runtime_error("open() gave no session");
    }
  }
  ~Session() { table_.close(handle_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 protected:
  const Table& table_;
  Handle* handle_ = nullptr;
};

class RouterSession : public Session<prism_router_t, prism_router_session_t> {
 public:
  explicit RouterSession(const Plugin& plugin, const Options& options = {})
      : Session(plugin, PRISM_ROUTER_1, options) {}

  /// Tokens of each expert. Throws Failure.
  std::vector<uint64_t> counts(const RoutingRequest& request) {
    const prism_routing_request_t c = to_c_request(request);
    std::vector<uint64_t> counts(request.experts);
    const host::ErrorSink error;
    detail::check(table_.counts(handle_, &c, counts.data(), error.c()), error);
    return counts;
  }

  /// Experts of each token, top_k in a row. Throws Failure, also where the router leaves it to the
  /// host.
  std::vector<uint32_t> assign(const RoutingRequest& request) {
    if (table_.assign == nullptr) {
      throw Failure(PRISM_STATUS_UNIMPLEMENTED, "the router has no assign()");
    }
    const prism_routing_request_t c = to_c_request(request);
    std::vector<uint32_t> experts(static_cast<size_t>(request.tokens * request.top_k));
    const host::ErrorSink error;
    detail::check(table_.assign(handle_, &c, experts.data(), error.c()), error);
    return experts;
  }

 private:
  static prism_routing_request_t to_c_request(const RoutingRequest& r) {
    return {sizeof(prism_routing_request_t),
            0,
            r.seed,
            r.tokens,
            r.micro_batch,
            r.experts,
            r.top_k,
            r.layer,
            r.rank};
  }
};

class TensorSourceSession : public Session<prism_tensor_source_t, prism_tensor_source_session_t> {
 public:
  explicit TensorSourceSession(const Plugin& plugin, const Options& options = {})
      : Session(plugin, PRISM_TENSOR_SOURCE_1, options) {}

  /// A tensor of that shape, filled; T is as wide as an element of `dtype` (PRISM_DTYPE_). Throws
  /// Failure.
  template <typename T>
  std::vector<T> fill(const TensorRequest& request, int32_t dtype,
                      const std::vector<int64_t>& shape) {
    if (element_size(dtype) != sizeof(T)) {
      throw std::invalid_argument("elements of this type have " +
                                  std::to_string(element_size(dtype)) + " bytes, not " +
                                  std::to_string(sizeof(T)));
    }
    size_t elements = 1;
    for (const int64_t extent : shape) {
      elements *= static_cast<size_t>(extent);
    }
    std::vector<T> data(elements);
    prism_tensor_t tensor{};
    tensor.struct_size = sizeof tensor;
    tensor.data = data.data();
    tensor.device_type = PRISM_DEVICE_CPU;
    tensor.dtype = dtype;
    tensor.ndim = static_cast<uint32_t>(shape.size());
    tensor.shape = shape.data();
    prism_tensor_request_t c{};
    c.struct_size = sizeof c;
    c.seed = request.seed;
    c.group = to_c(request.group);
    c.call = request.call;
    c.rank = request.rank;
    c.peer = request.peer ? static_cast<int32_t>(*request.peer) : -1;
    c.kind = request.kind;
    c.part = request.part;
    const host::ErrorSink error;
    detail::check(table_.fill(handle_, &c, &tensor, error.c()), error);
    return data;
  }
};

}  // namespace prism::sdk::testing
