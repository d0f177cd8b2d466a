// SPDX-License-Identifier: Apache-2.0
/// The host's side of a plugin under test: it notes what a host may not hear.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "prism/abi/error.h"
#include "prism/abi/host.h"
#include "prism/abi/version.h"
#include "sdk/conformance/placed.hpp"

namespace prism::conformance {

/// A host table. Its log keeps nothing but the first line that is wrong.
class TestHost {
 public:
  explicit TestHost(Placement placement = Placement::Plain, bool logging = true,
                    uint16_t abi_minor = PRISM_ABI_MINOR);
  TestHost(const TestHost&) = delete;
  TestHost& operator=(const TestHost&) = delete;

  const prism_host_t* c() const { return table_.get(); }
  /// What was wrong with a log call; empty when nothing was.
  std::string problem() const;

 private:
  static uint8_t log_enabled(void* ctx, int32_t level) noexcept;
  static void log(void* ctx, int32_t level, prism_str_t message) noexcept;

  bool logging_;
  mutable std::mutex mutex_;
  std::string problem_;
  Placed<prism_host_t> table_;
};

/// Takes an error and holds the plugin to the rules: once, with the code that it returns, in UTF-8.
class StrictSink {
 public:
  StrictSink() = default;
  StrictSink(const StrictSink&) = delete;
  StrictSink& operator=(const StrictSink&) = delete;

  const prism_error_sink_t* c() const { return &sink_; }
  /// The plugin's words, made printable.
  const std::string& message() const { return message_; }
  /// What is wrong with how the failure `code` was reported; empty when nothing is.
  std::string problem(prism_status_t code) const;
  /// " (its words: ...)", or "" when it said nothing.
  std::string quoted() const;

 private:
  static void report(void* ctx, prism_status_t code, prism_str_t message) noexcept;

  int reports_ = 0;
  prism_status_t code_ = 0;
  bool valid_ = true;
  std::string message_;
  prism_error_sink_t sink_{sizeof(prism_error_sink_t), 0, this, &report};
};

}  // namespace prism::conformance
