// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "prism/abi/status.h"

namespace prism::host {

/// How a call of a plugin ended; the text of a failure begins with the plugin and its function.
struct [[nodiscard]] Outcome {
  prism_status_t code = PRISM_STATUS_OK;
  std::string text;

  bool ok() const { return code == PRISM_STATUS_OK; }
};

}  // namespace prism::host
