// SPDX-License-Identifier: Apache-2.0
/// A session of a tensor source, from the host's side.
///
///   host::TensorSource source(library.name(), table, values);
///   source.fill(request, tensor);
#pragma once

#include <span>
#include <string>
#include <utility>

#include "prism/abi/tensor_source.h"
#include "prism/host/failure.hpp"
#include "prism/host/sinks.hpp"

namespace prism::host {

class TensorSource {
 public:
  /// Opens a session; `plugin` begins every message. `table` must be checked and must stay.
  /// Throws Failure. Thread: [control].
  TensorSource(std::string plugin, const prism_tensor_source_t* table,
               std::span<const prism_option_value_t> values)
      : plugin_(std::move(plugin)), table_(table) {
    const ErrorSink error;
    check_call(table_->open(values.data(), values.size(), &session_, error.c()), plugin_, "open",
               error);
    if (session_ == nullptr) {
      throw Failure(PRISM_STATUS_INTERNAL, plugin_ + ": open() gave no session");
    }
  }
  TensorSource(const TensorSource&) = delete;
  TensorSource& operator=(const TensorSource&) = delete;
  ~TensorSource() { table_->close(session_); }

  /// Writes every element of `out`. Throws Failure; `out` is then not to be used.
  /// Thread: [worker], one call at a time.
  void fill(const prism_tensor_request_t& request, const prism_tensor_t& out) {
    const ErrorSink error;
    check_call(table_->fill(session_, &request, &out, error.c()), plugin_, "fill", error);
  }

  /// "plugin 'constant' (libprism_constant.so 0.1.0)".
  const std::string& plugin() const { return plugin_; }

 private:
  const std::string plugin_;
  const prism_tensor_source_t* table_;
  prism_tensor_source_session_t* session_ = nullptr;
};

}  // namespace prism::host
