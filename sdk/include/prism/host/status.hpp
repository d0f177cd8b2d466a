// SPDX-License-Identifier: Apache-2.0
/// Status codes in words.
#pragma once

#include <iterator>
#include <string>

#include "prism/abi/status.h"

namespace prism::host {

/// "INVALID_ARGUMENT"; of a number that is no PRISM_STATUS_, the number.
inline std::string status_name(prism_status_t code) {
  constexpr const char* kNames[] = {"OK",
                                    "CANCELLED",
                                    "UNKNOWN",
                                    "INVALID_ARGUMENT",
                                    "DEADLINE_EXCEEDED",
                                    "NOT_FOUND",
                                    "ALREADY_EXISTS",
                                    "PERMISSION_DENIED",
                                    "RESOURCE_EXHAUSTED",
                                    "FAILED_PRECONDITION",
                                    "ABORTED",
                                    "OUT_OF_RANGE",
                                    "UNIMPLEMENTED",
                                    "INTERNAL",
                                    "UNAVAILABLE",
                                    "DATA_LOSS"};
  return code >= 0 && code < static_cast<prism_status_t>(std::size(kNames)) ? kNames[code]
                                                                            : std::to_string(code);
}

}  // namespace prism::host
