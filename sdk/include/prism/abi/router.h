/* SPDX-License-Identifier: Apache-2.0 */
/**
 * prism.router/1: which experts of a mixture-of-experts layer get the tokens of a rank, in place of
 * a trained gate. Pure functions: the same options and request give the same bytes, on every
 * machine, in every process, in any order of calls.
 *
 * Only `counts` is needed. The host turns counts into an assignment of tokens and an assignment
 * into logits (prism/routing/), unless the router offers these itself. Since 1.0.
 */
#pragma once

#include "prism/abi/error.h"
#include "prism/abi/option.h"
#include "prism/abi/tensor.h"

PRISM_EXTERN_C_BEGIN

#define PRISM_ROUTER_1 "prism.router/1"

typedef struct prism_router_session prism_router_session_t;

/** The tokens of one rank in one micro-batch at one layer. Ownership: borrowed for the call. */
typedef struct prism_routing_request {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t seed;        /**< [experiment] seed */
  uint64_t tokens;      /**< may be 0 */
  uint64_t micro_batch; /**< 0, 1, ... since the start of the run */
  uint32_t experts;     /**< of the whole layer, >= 1 */
  uint32_t top_k;       /**< different experts per token, 1 to experts */
  uint32_t layer;       /**< 0, 1, ... among the mixture-of-experts layers */
  uint32_t rank;        /**< logical rank whose tokens these are */
} prism_routing_request_t;

typedef struct prism_router {
  uint32_t struct_size;
  uint32_t reserved;
  prism_option_table_t options;
  /** Makes a session. Thread: [control]. Ownership: of *session passes to the host, until close.
   *  Errors: INVALID_ARGUMENT for options that do not fit together. */
  prism_status_t (*open)(const prism_option_value_t* values, uint64_t value_count,
                         prism_router_session_t** session,
                         const prism_error_sink_t* err) PRISM_NOEXCEPT;
  /** Writes how many tokens each expert gets: `request->experts` numbers, each at most
   *  request->tokens, their sum tokens * top_k. Thread: [worker].
   *  Errors: INVALID_ARGUMENT where the router cannot serve this request. */
  prism_status_t (*counts)(prism_router_session_t* session, const prism_routing_request_t* request,
                           uint64_t* counts, const prism_error_sink_t* err) PRISM_NOEXCEPT;
  /** Writes the experts of each token, tokens * top_k numbers: those of token t, all different, the
   *  one with the highest weight first, at t * top_k. Every expert comes as often as counts() says.
   *  Thread: [worker]. Errors: as counts.
   *  Optional: NULL; the host then draws an assignment, uniformly among those with these counts. */
  prism_status_t (*assign)(prism_router_session_t* session, const prism_routing_request_t* request,
                           uint32_t* experts, const prism_error_sink_t* err) PRISM_NOEXCEPT;
  /** Writes logits whose softmax at temperature 1 has, for each token, its experts of assign() on
   *  top, in their order; no two logits of a token are equal when rounded to bf16.
   *  `out`: shape [tokens, experts], f32 or bf16, on the CPU, without gaps. Thread: [worker].
   *  Errors: as counts; UNIMPLEMENTED for another dtype, device or layout.
   *  Optional: NULL; the host then makes them from the assignment. A router that has logits has
   *  assign too: they speak of the same tokens. */
  prism_status_t (*logits)(prism_router_session_t* session, const prism_routing_request_t* request,
                           const prism_tensor_t* out, const prism_error_sink_t* err) PRISM_NOEXCEPT;
  /** Thread: [control]. */
  void (*close)(prism_router_session_t* session) PRISM_NOEXCEPT;
} prism_router_t;

PRISM_EXTERN_C_END
