// SPDX-License-Identifier: Apache-2.0
/// A tensor source as the host uses it, in the program and inside a rank.
///
///   host::TensorSource source("plugin 'tokens' (libprism_tokens.so 0.1.0)", table);
///   host::Outcome outcome = source.open(values);
///   if (outcome.ok()) { outcome = source.fill(request, tensor); }
///
/// Errors: the plugin's own code and words, after its name and function.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "prism/abi/tensor_source.h"
#include "prism/host/call_notes.hpp"
#include "prism/host/outcome.hpp"
#include "prism/host/sinks.hpp"
#include "prism/host/threads.hpp"

namespace prism::host {

class TensorSource {
 public:
  /// `name` begins the messages. `table` passed check_tensor_source (bind.hpp) and outlives the
  /// object.
  TensorSource(std::string name, const prism_tensor_source_t* table)
      : name_(std::move(name)), table_(*table), rules_(name_) {}
  TensorSource(const TensorSource&) = delete;
  TensorSource& operator=(const TensorSource&) = delete;
  /// Thread: [control].
  ~TensorSource() {
    if (session_ != nullptr) {
      const NotedCall call(name_, "close");
      table_.close(session_);
    }
  }

  /// Once, before fill(). `values`: one for each row of the table's options, in its order.
  /// Thread: [control].
  Outcome open(std::span<const prism_option_value_t> values) {
    const ErrorSink error;
    const auto call = rules_.enter(ThreadTag::Control, "open");
    const NotedCall noted(name_, "open");
    const Outcome outcome =
        outcome_of("open", table_.open(values.data(), values.size(), &session_, error.c()), error);
    return outcome.ok() && session_ == nullptr
               ? Outcome{PRISM_STATUS_INTERNAL, name_ + ": open() gave no session"}
               : outcome;
  }

  /// Writes every element of `out`; after an error it is not to be used.
  /// Thread: [worker], one call at a time.
  Outcome fill(const prism_tensor_request_t& request, const prism_tensor_t& out) {
    const ErrorSink error;
    const auto call = rules_.enter(ThreadTag::Worker, "fill");
    const NotedCall noted(name_, "fill");
    return outcome_of("fill", table_.fill(session_, &request, &out, error.c()), error);
  }

 private:
  Outcome outcome_of(const char* function, prism_status_t status, const ErrorSink& error) const {
    return status == PRISM_STATUS_OK
               ? Outcome{}
               : Outcome{status, name_ + ": " + function + "(): " + error.message(status)};
  }

  const std::string name_;
  const prism_tensor_source_t& table_;
  ThreadRules rules_;
  prism_tensor_source_session_t* session_ = nullptr;
};

}  // namespace prism::host
