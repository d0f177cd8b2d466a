// SPDX-License-Identifier: Apache-2.0
/// The host's side of the sinks that a plugin writes to during a call. One object per call, on the
/// caller's stack.
#pragma once

#include <string>
#include <utility>

#include "prism/abi/error.h"
#include "prism/abi/string.h"
#include "prism/host/status.hpp"
#include "prism/host/text.hpp"

namespace prism::host {

/// Keeps the message of a failing call.
class ErrorSink {
 public:
  ErrorSink() = default;
  ErrorSink(const ErrorSink&) = delete;
  ErrorSink& operator=(const ErrorSink&) = delete;

  const prism_error_sink_t* c() const { return &sink_; }
  /// The plugin's words; a sentence that says so when it failed without any.
  std::string message(prism_status_t code) const {
    return message_.empty() ? "failed with status " + status_name(code) + " and no message"
                            : message_;
  }

 private:
  static void report(void* ctx, prism_status_t /*code*/, prism_str_t message) noexcept {
    try {
      static_cast<ErrorSink*>(ctx)->message_ = clean_text(message);
    } catch (...) {  // out of memory: the status code still says that it failed
    }
  }

  std::string message_;
  prism_error_sink_t sink_{sizeof(prism_error_sink_t), 0, this, &report};
};

/// Collects text, at most kMaxText bytes.
class TextSink {
 public:
  TextSink() = default;
  TextSink(const TextSink&) = delete;
  TextSink& operator=(const TextSink&) = delete;

  const prism_text_sink_t* c() const { return &sink_; }
  const std::string& text() const { return text_; }

 private:
  static void write(void* ctx, prism_str_t piece) noexcept {
    try {
      std::string& text = static_cast<TextSink*>(ctx)->text_;
      if (text.size() < kMaxText) {
        text += clean_text(piece);
      }
    } catch (...) {  // out of memory: the text is cut
    }
  }

  std::string text_;
  prism_text_sink_t sink_{sizeof(prism_text_sink_t), 0, this, &write};
};

}  // namespace prism::host
