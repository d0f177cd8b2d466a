// SPDX-License-Identifier: Apache-2.0
/// Status and Result: how core reports what a user or the environment can cause.
///
///   Result<Config> load(const Path& p) {
///     PRISM_TRY_ASSIGN(auto text, read_file(p));       // returns on error
///     PRISM_TRY(check(text).context("checking '" + p + "'"));
///     return Config{...};
///   }
///
/// Exceptions come only from third-party code and are converted in the same function.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "prism/abi/status.h"

namespace prism {

enum class Code : int32_t {
  Ok = PRISM_STATUS_OK,
  Cancelled = PRISM_STATUS_CANCELLED,
  Unknown = PRISM_STATUS_UNKNOWN,
  InvalidArgument = PRISM_STATUS_INVALID_ARGUMENT,
  DeadlineExceeded = PRISM_STATUS_DEADLINE_EXCEEDED,
  NotFound = PRISM_STATUS_NOT_FOUND,
  AlreadyExists = PRISM_STATUS_ALREADY_EXISTS,
  PermissionDenied = PRISM_STATUS_PERMISSION_DENIED,
  ResourceExhausted = PRISM_STATUS_RESOURCE_EXHAUSTED,
  FailedPrecondition = PRISM_STATUS_FAILED_PRECONDITION,
  Aborted = PRISM_STATUS_ABORTED,
  OutOfRange = PRISM_STATUS_OUT_OF_RANGE,
  Unimplemented = PRISM_STATUS_UNIMPLEMENTED,
  Internal = PRISM_STATUS_INTERNAL,
  Unavailable = PRISM_STATUS_UNAVAILABLE,
  DataLoss = PRISM_STATUS_DATA_LOSS,
};

/// Which part of the outside world an error belongs to; decides the exit code of the program
/// (architecture: 1 run, 2 usage or configuration, 3 plugin, 4 environment, 70 bug, 130
/// interrupted).
enum class Domain : uint8_t { Run, Config, Plugin, Environment, Bug, Interrupted };

/// Outcome of an operation: Ok, or a code, a message and the chain of what was being done.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, Domain domain, std::string message)
      : failure_(Failure{code, domain, std::move(message), {}}) {}

  bool ok() const { return !failure_.has_value(); }
  Code code() const { return failure_ ? failure_->code : Code::Ok; }
  Domain domain() const { return failure_ ? failure_->domain : Domain::Run; }
  /// The innermost message; empty when ok.
  std::string_view message() const {
    return failure_ ? std::string_view(failure_->message) : std::string_view();
  }

  /// Adds what was being done when it failed; the outermost context is printed first.
  Status&& context(std::string doing) &&;
  /// "outer:\n  caused by: inner:\n  caused by: message".
  std::string to_string() const;
  /// Exit code of the program for this status.
  int exit_code() const;

 private:
  struct Failure {
    Code code;
    Domain domain;
    std::string message;
    std::vector<std::string> context;
  };
  std::optional<Failure> failure_;
};

inline Status run_error(std::string message, Code code = Code::Aborted) {
  return {code, Domain::Run, std::move(message)};
}
inline Status config_error(std::string message, Code code = Code::InvalidArgument) {
  return {code, Domain::Config, std::move(message)};
}
inline Status plugin_error(std::string message, Code code = Code::FailedPrecondition) {
  return {code, Domain::Plugin, std::move(message)};
}
inline Status environment_error(std::string message, Code code = Code::FailedPrecondition) {
  return {code, Domain::Environment, std::move(message)};
}

/// A value, or the Status that says why there is none (never Ok).
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return value_.has_value(); }
  const Status& status() const& { return status_; }
  Status&& status() && { return std::move(status_); }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }

  Result&& context(std::string doing) && {
    if (!ok()) {
      static_cast<void>(std::move(status_).context(std::move(doing)));  // in place
    }
    return std::move(*this);
  }

 private:
  std::optional<T> value_;
  Status status_;
};

/// Prints the expression and aborts: for bugs of Prism, never for input.
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);

}  // namespace prism

#define PRISM_CONCAT_(a, b) a##b
#define PRISM_CONCAT(a, b) PRISM_CONCAT_(a, b)
/// Returns the status from the enclosing function unless it is Ok.
#define PRISM_TRY(expression)                  \
  do {                                         \
    ::prism::Status prism_try_ = (expression); \
    if (!prism_try_.ok()) {                    \
      return prism_try_;                       \
    }                                          \
  } while (false)
/// Declares or assigns `target` from a Result, or returns its status.
#define PRISM_TRY_ASSIGN(target, expression) \
  PRISM_TRY_ASSIGN_(PRISM_CONCAT(prism_result_, __LINE__), target, expression)
#define PRISM_TRY_ASSIGN_(name, target, expression) \
  auto name = (expression);                         \
  if (!name.ok()) {                                 \
    return std::move(name).status();                \
  }                                                 \
  target = std::move(name).value()
#define PRISM_ASSERT(condition) \
  ((condition) ? void(0) : ::prism::assertion_failed(#condition, __FILE__, __LINE__))
