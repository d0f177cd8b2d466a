/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "prism/abi/base.h"

PRISM_EXTERN_C_BEGIN

/** UTF-8 text of `len` bytes; not terminated by 0. Ownership: borrowed, for the time that the
 *  function's documentation says. An empty string may have a NULL ptr. */
typedef struct prism_str {
  const char* ptr;
  uint64_t len;
} prism_str_t;

/** Receives text of unknown size, in one or more pieces. Thread: that of the call it is given. */
typedef struct prism_text_sink {
  uint32_t struct_size;
  uint32_t reserved;
  void* ctx;
  void (*write)(void* ctx, prism_str_t piece) PRISM_NOEXCEPT;
} prism_text_sink_t;

PRISM_EXTERN_C_END
