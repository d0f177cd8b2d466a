/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Macros that every ABI header uses. C11 and C++20; no dependency.
 *
 * Every growable struct begins with `uint32_t struct_size` (size through the last field that its
 * writer knows) and `uint32_t reserved` (0). Fields are only appended. Read a field that came after
 * 1.0 with PRISM_HAS.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define PRISM_NOEXCEPT noexcept
#define PRISM_EXTERN_C_BEGIN extern "C" {
#define PRISM_EXTERN_C_END }
#else
#define PRISM_NOEXCEPT
#define PRISM_EXTERN_C_BEGIN
#define PRISM_EXTERN_C_END
#endif

/** Size of type T through its field f. */
#ifdef __cplusplus
#define PRISM_SIZE_THROUGH(T, f) static_cast<uint32_t>(offsetof(T, f) + sizeof(T::f))
#else
#define PRISM_SIZE_THROUGH(T, f) ((uint32_t)(offsetof(T, f) + sizeof(((T*)0)->f)))
#endif
/** Whether *p, of type T, was written by someone who knew field f. */
#define PRISM_HAS(p, T, f) ((p)->struct_size >= PRISM_SIZE_THROUGH(T, f))
