// SPDX-License-Identifier: Apache-2.0
/// How plugin and guard report what went wrong: a code of the ABI and a sentence.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

#include "prism/abi/status.h"

namespace prism::local {

struct [[nodiscard]] Outcome {
  prism_status_t code = PRISM_STATUS_OK;
  std::string text;

  bool ok() const { return code == PRISM_STATUS_OK; }
};

inline std::string errno_text(int error) {
  return std::generic_category().message(error);
}

inline prism_status_t status_of_errno(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return PRISM_STATUS_NOT_FOUND;
    case EACCES:
    case EPERM:
    case EROFS:
      return PRISM_STATUS_PERMISSION_DENIED;
    case ENOMEM:
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case E2BIG:
    case ENOSPC:
    case EDQUOT:
      return PRISM_STATUS_RESOURCE_EXHAUSTED;
    default:
      return PRISM_STATUS_FAILED_PRECONDITION;
  }
}

/// "<doing>: <text of error>", with the code that fits the error.
inline Outcome errno_failure(std::string doing, int error) {
  return {status_of_errno(error), std::move(doing) + ": " + errno_text(error)};
}

}  // namespace prism::local
