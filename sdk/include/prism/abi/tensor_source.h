/* SPDX-License-Identifier: Apache-2.0 */
/**
 * prism.tensor_source/1: what a peer would have sent, where no peer is there to send it. Pure
 * functions: the same options, request, shape and dtype give the same bytes, in every process, in
 * any order of calls. Since 1.0.
 */
#pragma once

#include "prism/abi/error.h"
#include "prism/abi/option.h"
#include "prism/abi/tensor.h"

PRISM_EXTERN_C_BEGIN

#define PRISM_TENSOR_SOURCE_1 "prism.tensor_source/1"

typedef struct prism_tensor_source_session prism_tensor_source_session_t;

/** What the tensor is for. Ownership: borrowed for the call. */
typedef struct prism_tensor_request {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t seed;     /**< [experiment] seed */
  prism_str_t group; /**< description of the communicator, as the program gave it; may be empty */
  uint64_t call;     /**< the n-th communication of this kind on this communicator, from 0 */
  uint32_t rank;     /**< logical rank that gets the tensor */
  int32_t peer;      /**< logical rank that would have sent it; -1: it comes of several ranks */
  int32_t kind;      /**< PRISM_COMM_ */
  uint32_t part;     /**< which of the tensors of this communication, from 0 */
} prism_tensor_request_t;

typedef struct prism_tensor_source {
  uint32_t struct_size;
  uint32_t reserved;
  prism_option_table_t options;
  /** Makes a session. Thread: [control]. Ownership: of *session passes to the host, until close.
   *  Errors: INVALID_ARGUMENT for options that do not fit together; NOT_FOUND for a file. */
  prism_status_t (*open)(const prism_option_value_t* values, uint64_t value_count,
                         prism_tensor_source_session_t** session,
                         const prism_error_sink_t* err) PRISM_NOEXCEPT;
  /** Writes every element of `out`, which is on the CPU and without gaps.  Thread: [worker].
   *  Errors: INVALID_ARGUMENT where the source has no value for this request or dtype; `out` is
   *  then left as it was or partly written, and not used. */
  prism_status_t (*fill)(prism_tensor_source_session_t* session,
                         const prism_tensor_request_t* request, const prism_tensor_t* out,
                         const prism_error_sink_t* err) PRISM_NOEXCEPT;
  /** Thread: [control]. */
  void (*close)(prism_tensor_source_session_t* session) PRISM_NOEXCEPT;
} prism_tensor_source_t;

PRISM_EXTERN_C_END
