/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The one symbol that a plugin exports.
 *
 * The host opens the library, looks up prism_plugin_v1, calls it (pure: it must not call the host)
 * and gets a static table. Then: init once, get_interface as often as wanted, deinit once.
 */
#pragma once

#include "prism/abi/error.h"
#include "prism/abi/host.h"
#include "prism/abi/status.h"
#include "prism/abi/string.h"
#include "prism/abi/version.h"

PRISM_EXTERN_C_BEGIN

/** Ownership: plugin, static. Thread: [control] for every function. */
typedef struct prism_plugin {
  uint32_t struct_size;
  uint32_t reserved; /**< 0 */
  uint16_t abi_major;
  uint16_t abi_minor;
  uint32_t pad;        /**< 0 */
  prism_str_t id;      /**< as in the manifest */
  prism_str_t version; /**< semantic version, as in the manifest */
  /** Optional: NULL means nothing to do. May be called again after deinit. */
  prism_status_t (*init)(const prism_host_t* host, const prism_error_sink_t* err) PRISM_NOEXCEPT;
  /** Optional: NULL means nothing to do. */
  void (*deinit)(void) PRISM_NOEXCEPT;
  /** The interface table of that id ("prism.router/1"), or NULL when unknown. */
  const void* (*get_interface)(prism_str_t id)PRISM_NOEXCEPT;
} prism_plugin_t;

#define PRISM_PLUGIN_ENTRY "prism_plugin_v1"

PRISM_EXTERN_C_END
