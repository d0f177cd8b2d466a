/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Who calls what. Every function of the ABI carries one of these tags after "Thread:".
 *
 *   [control]  load, open, close: one thread at a time, never while another function runs on the
 *              same session
 *   [worker]   any thread; concurrently for different sessions, never within one
 *   [replay]   the engine's thread, once per communication: no blocking, no allocation, no logging
 *              above trace
 *   [any]      any thread, concurrently
 *
 * With PRISM_CHECK_THREADS=1 in its environment, and always in `prism plugin check`, the host
 * verifies at run time that it keeps these rules, and ends with exit code 70 where it does not.
 */
#pragma once

#include "prism/abi/base.h"
