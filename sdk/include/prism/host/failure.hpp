// SPDX-License-Identifier: Apache-2.0
/// How a host's header-only code fails.
#pragma once

#include <stdexcept>
#include <string>

#include "prism/abi/status.h"
#include "prism/host/sinks.hpp"

namespace prism::host {

/// The text begins with the plugin and, for a call, its function:
/// "plugin 'file' (libprism_file.so 0.1.0): open(): ...".
class Failure : public std::runtime_error {
 public:
  Failure(prism_status_t code, const std::string& text) : std::runtime_error(text), code_(code) {}
  prism_status_t code() const noexcept { return code_; }

 private:
  prism_status_t code_;
};

/// Throws unless the call went well. `plugin`: "plugin 'file' (libprism_file.so 0.1.0)".
inline void check_call(prism_status_t status, const std::string& plugin, const char* function,
                       const ErrorSink& error) {
  if (status != PRISM_STATUS_OK) {
    throw Failure(status, plugin + ": " + function + "(): " + error.message(status));
  }
}

}  // namespace prism::host
