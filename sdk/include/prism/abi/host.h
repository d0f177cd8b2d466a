/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "prism/abi/string.h"

PRISM_EXTERN_C_BEGIN

#define PRISM_LOG_TRACE 0
#define PRISM_LOG_DEBUG 1
#define PRISM_LOG_INFO 2
#define PRISM_LOG_WARN 3
#define PRISM_LOG_ERROR 4

/**
 * What the host offers to a plugin. Valid from init until deinit returns.
 * Ownership: host. Thread: [any] for every function.
 */
typedef struct prism_host {
  uint32_t struct_size;
  uint32_t reserved;
  uint16_t abi_major;
  uint16_t abi_minor;
  uint32_t pad;
  void* ctx;
  prism_str_t version; /**< of the program, for messages */
  /** Whether a message of this level would be kept; ask before formatting. */
  uint8_t (*log_enabled)(void* ctx, int32_t level) PRISM_NOEXCEPT;
  /** Hands one line to the host's log. The text is copied during the call. */
  void (*log)(void* ctx, int32_t level, prism_str_t message) PRISM_NOEXCEPT;
} prism_host_t;

PRISM_EXTERN_C_END
