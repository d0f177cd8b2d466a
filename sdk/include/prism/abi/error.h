/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "prism/abi/status.h"
#include "prism/abi/string.h"

PRISM_EXTERN_C_BEGIN

/**
 * Where a callee says why it failed. Owned by the caller; may be NULL. The callee reports at most
 * once, before it returns the same code; the message is copied during the call.
 * Thread: that of the call it is given to.
 */
typedef struct prism_error_sink {
  uint32_t struct_size;
  uint32_t reserved;
  void* ctx;
  void (*report)(void* ctx, prism_status_t code, prism_str_t message) PRISM_NOEXCEPT;
} prism_error_sink_t;

PRISM_EXTERN_C_END
