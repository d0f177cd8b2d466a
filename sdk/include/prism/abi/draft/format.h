/* SPDX-License-Identifier: Apache-2.0 */
/**
 * prism.format/1 (draft: host and plugin must match exactly): reads traces of real jobs, and writes
 * timelines, in a file format of others.
 *
 * A trace is told rank by rank: its lanes, its communicators, then its nodes in an order in which
 * each comes after its lane predecessor and its dependencies. The importer says what the trace
 * shows (when things ran, what waited for what inside a rank); the host finds who waited for whom
 * between ranks, and turns waiting into durations.
 */
#pragma once

#include "prism/abi/comm.h"
#include "prism/abi/error.h"
#include "prism/abi/option.h"

PRISM_EXTERN_C_BEGIN

#define PRISM_FORMAT_1 "prism.format/1"

/** Kinds of nodes: PRISM_COMM_ and these. */
#define PRISM_NODE_COMPUTE 0
#define PRISM_NODE_BATCH 32 /**< sends and recvs that arrive together and end with the last */

#define PRISM_LANE_CPU 0
#define PRISM_LANE_STREAM 1
#define PRISM_LANE_COMM 2

#define PRISM_NO_INDEX 0xffffffffu
#define PRISM_UNKNOWN_RANK 0xffffffffu
#define PRISM_ANY_SOURCE (-2)

typedef struct prism_format_session prism_format_session_t;

/** A file to read. `rank`: what the user said it is of; PRISM_UNKNOWN_RANK: see the file. */
typedef struct prism_trace_input {
  uint32_t struct_size;
  uint32_t rank;
  prism_str_t path;
} prism_trace_input_t;

/** A process group as one rank saw it. `ranks` in group order. */
typedef struct prism_trace_communicator {
  uint32_t struct_size;
  uint32_t reserved;
  prism_str_t name;
  prism_str_t description;
  prism_str_t backend; /**< "nccl", "gloo" */
  const uint32_t* ranks;
  uint64_t rank_count;
} prism_trace_communicator_t;

/** A send or recv. `peer`: position in the communicator, or PRISM_ANY_SOURCE. */
typedef struct prism_trace_part {
  int32_t kind; /**< PRISM_COMM_SEND, PRISM_COMM_RECV */
  int32_t peer;
  int32_t tag;
  uint32_t communicator;
  int32_t dtype;
  uint32_t reserved;
  uint64_t bytes;
  int64_t start_ns; /**< its own span within that of the node */
  int64_t end_ns;
} prism_trace_part_t;

/**
 * One entry of a lane. Times in ns of the rank's clock, start <= end; nodes of a lane do not
 * overlap. A communication's span goes from its own arrival to its end, waiting included.
 * Labels that are not known: "" and -1.
 */
typedef struct prism_trace_node {
  uint32_t struct_size;
  int32_t kind;
  uint32_t lane;
  uint32_t communicator; /**< collectives; else PRISM_NO_INDEX */
  int64_t start_ns;
  int64_t end_ns;
  int64_t sequence; /**< n-th collective of its communicator; -1: in the order of the nodes */
  int32_t root;     /**< position in the communicator; -1 */
  int32_t dtype;
  int32_t reduction;
  int32_t iteration;
  uint64_t input_bytes;
  uint64_t output_bytes;
  const prism_trace_part_t* parts; /**< send, recv, batch */
  uint64_t part_count;
  const uint32_t* dependencies; /**< nodes of this rank that were added before */
  uint64_t dependency_count;
  prism_str_t name;  /**< of the kernel or operation */
  prism_str_t phase; /**< "forward", "backward", "optimizer", ... */
  int32_t micro_batch;
  int32_t chunk; /**< of the model, where a pipeline stage has several */
  int32_t layer;
  int32_t padding;
} prism_trace_node_t;

/** What the host gives an importer. Every function: errors are INVALID_ARGUMENT for what cannot be
 *  (the importer passes them on), RESOURCE_EXHAUSTED. Thread: the one of import_trace. */
typedef struct prism_trace_sink {
  uint32_t struct_size;
  uint32_t reserved;
  void* ctx;
  /** What follows is of `rank`. `clock`: ranks of one clock have times that can be compared.
   *  `source`: the file, for messages. Errors: the rank was begun before. */
  prism_status_t (*begin_rank)(void* ctx, uint32_t rank, uint32_t clock, prism_str_t source,
                               const prism_error_sink_t* err) PRISM_NOEXCEPT;
  prism_status_t (*add_lane)(void* ctx, int32_t kind, prism_str_t name, uint32_t* index,
                             const prism_error_sink_t* err) PRISM_NOEXCEPT;
  prism_status_t (*add_communicator)(void* ctx, const prism_trace_communicator_t* communicator,
                                     uint32_t* index, const prism_error_sink_t* err) PRISM_NOEXCEPT;
  prism_status_t (*add_node)(void* ctx, const prism_trace_node_t* node, uint32_t* index,
                             const prism_error_sink_t* err) PRISM_NOEXCEPT;
  /** Something that the user should know, once per kind of thing, with its count. */
  void (*note)(void* ctx, prism_str_t text) PRISM_NOEXCEPT;
} prism_trace_sink_t;

/** What the host gives an exporter: times as replayed. Everything handed out is valid until the
 *  next call of the same function. Thread: the one of export_trace. */
typedef struct prism_trace_reader {
  uint32_t struct_size;
  uint32_t world_size;
  void* ctx;
  uint64_t rank_count; /**< that are exported */
  uint32_t (*rank)(void* ctx, uint64_t index) PRISM_NOEXCEPT;
  uint64_t (*lane_count)(void* ctx, uint32_t rank) PRISM_NOEXCEPT;
  void (*lane)(void* ctx, uint32_t rank, uint64_t index, int32_t* kind,
               prism_str_t* name) PRISM_NOEXCEPT;
  uint64_t (*communicator_count)(void* ctx, uint32_t rank) PRISM_NOEXCEPT;
  void (*communicator)(void* ctx, uint32_t rank, uint64_t index,
                       prism_trace_communicator_t* communicator) PRISM_NOEXCEPT;
  uint64_t (*node_count)(void* ctx, uint32_t rank) PRISM_NOEXCEPT;
  /** A communication starts when it no longer waits: its arrival is `*arrival_ns`. */
  void (*node)(void* ctx, uint32_t rank, uint64_t index, prism_trace_node_t* node,
               int64_t* arrival_ns) PRISM_NOEXCEPT;
} prism_trace_reader_t;

/** Thread: [control] for every function. At least one of import_trace and export_trace is there. */
typedef struct prism_format {
  uint32_t struct_size;
  uint32_t reserved;
  prism_option_table_t options;
  prism_status_t (*open)(const prism_option_value_t* values, uint64_t value_count,
                         prism_format_session_t** session,
                         const prism_error_sink_t* err) PRISM_NOEXCEPT;
  /** Optional. Whether a file looks like one of this format, by its name and its beginning; 1 or
   *  0, also where it cannot be read. */
  uint8_t (*recognises)(prism_format_session_t* session, prism_str_t path) PRISM_NOEXCEPT;
  /** Optional. Errors: NOT_FOUND, DATA_LOSS for a file that is cut or damaged, INVALID_ARGUMENT
   *  for one that says what cannot be; with file and place. What went to the sink is then dropped.
   */
  prism_status_t (*import_trace)(prism_format_session_t* session, const prism_trace_input_t* inputs,
                                 uint64_t input_count, const prism_trace_sink_t* sink,
                                 const prism_error_sink_t* err) PRISM_NOEXCEPT;
  /** Optional. Writes the file `path`, which is new and empty, or files into the folder `path`, see
   *  `exports_folder`; the host gives it its final name. */
  prism_status_t (*export_trace)(prism_format_session_t* session,
                                 const prism_trace_reader_t* reader, prism_str_t path,
                                 const prism_error_sink_t* err) PRISM_NOEXCEPT;
  void (*close)(prism_format_session_t* session) PRISM_NOEXCEPT;
  uint8_t exports_folder; /**< 1: an export is a folder, of a file for each rank, say */
  uint8_t padding[7];
} prism_format_t;

PRISM_EXTERN_C_END
