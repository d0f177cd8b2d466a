// SPDX-License-Identifier: Apache-2.0
/// How a plugin's C++ code fails: it throws, and the SDK turns what was thrown into a status code
/// and a message for the host. Nothing thrown ever leaves the plugin.
///
///   throw prism::sdk::Error(PRISM_STATUS_NOT_FOUND, "no program 'python3' in PATH");
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "prism/abi/error.h"
#include "prism/host/text.hpp"
#include "prism/sdk/text.hpp"

namespace prism::sdk {

/// A failure with the code that the host shall see. The text is for the user: what, where, what
/// was expected, what to do.
class Error : public std::exception {
 public:
  Error(prism_status_t code, std::string text) : code_(code), text_(std::move(text)) {}
  prism_status_t code() const noexcept { return code_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  prism_status_t code_;
  std::string text_;
};

/// Tells the host (when it listens) and returns `code`. What is no UTF-8 in the text, of a file
/// name say, becomes '?'.
inline prism_status_t fail(const prism_error_sink_t* err, prism_status_t code,
                           std::string_view text) noexcept {
  if (err == nullptr || err->report == nullptr) {
    return code;
  }
  try {
    const std::string clean = host::clean_text(to_c(text));
    err->report(err->ctx, code, to_c(clean));
  } catch (const std::bad_alloc&) {
    err->report(err->ctx, code, to_c("failed, and there is no memory to say why"));
  }
  return code;
}

/// Runs `body` and translates what it throws: Error keeps its code, std::invalid_argument becomes
/// INVALID_ARGUMENT, std::bad_alloc RESOURCE_EXHAUSTED, all else INTERNAL. A body that returns a
/// prism_status_t has reported already.
template <typename Body>
prism_status_t guarded(const prism_error_sink_t* err, Body&& body) noexcept {
  try {
    if constexpr (std::is_same_v<decltype(body()), prism_status_t>) {
      return body();
    } else {
      body();
      return PRISM_STATUS_OK;
    }
  } catch (const Error& error) {
    // A failure must not look like success, whatever code the author gave.
    const prism_status_t code =
        error.code() == PRISM_STATUS_OK ? PRISM_STATUS_INTERNAL : error.code();
    return fail(err, code, error.what());
  } catch (const std::invalid_argument& error) {
    return fail(err, PRISM_STATUS_INVALID_ARGUMENT, error.what());
  } catch (const std::bad_alloc&) {
    return fail(err, PRISM_STATUS_RESOURCE_EXHAUSTED, "out of memory");
  } catch (const std::exception& error) {
    return fail(err, PRISM_STATUS_INTERNAL, error.what());
  } catch (...) {
    return fail(err, PRISM_STATUS_INTERNAL, "threw something that is no std::exception");
  }
}

}  // namespace prism::sdk
