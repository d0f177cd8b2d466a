/* SPDX-License-Identifier: Apache-2.0 */
/**
 * prism.runtime/1 (draft: host and plugin must match exactly): how a logical rank of the user's
 * program is started and intercepted. Starts nothing itself except short probes; the launcher does.
 */
#pragma once

#include "prism/abi/error.h"
#include "prism/abi/option.h"

PRISM_EXTERN_C_BEGIN

#define PRISM_RUNTIME_1 "prism.runtime/1"

typedef struct prism_runtime_session prism_runtime_session_t;

/** The rank to start. Ownership: borrowed for the call. */
typedef struct prism_rank_spec {
  uint32_t struct_size;
  uint32_t reserved;
  uint32_t rank;
  uint32_t world_size;
  uint32_t local_rank;       /**< index of the device to use on its machine */
  uint32_t local_world_size; /**< ranks that the program believes to be on its machine */
  int32_t agent_fd;          /**< number, in the child, of the socket to the coordinator */
  uint32_t pad;
  uint64_t seed;
  prism_str_t script; /**< absolute path */
  const prism_str_t* args;
  uint64_t arg_count;
  const prism_str_t* env; /**< what the program would get without Prism, "NAME=value" */
  uint64_t env_count;
} prism_rank_spec_t;

/** The program for real: all its ranks on this machine. Ownership: borrowed for the call. */
typedef struct prism_reference_spec {
  uint32_t struct_size;
  uint32_t reserved;
  uint32_t world_size;
  uint32_t pad;
  const uint32_t* cores; /**< rank r runs on core r modulo core_count */
  uint64_t core_count;
  /** Absolute, exists. Rank r writes Hello, its Marks and Bye, as frames of prism/wire/agent.hpp,
   *  to the file "marks.r" here. */
  prism_str_t marks_folder;
  prism_str_t script;
  const prism_str_t* args;
  uint64_t arg_count;
  const prism_str_t* env;
  uint64_t env_count;
} prism_reference_spec_t;

/** Receives the command line and environment of a rank, in order. */
typedef struct prism_command_sink {
  uint32_t struct_size;
  uint32_t reserved;
  void* ctx;
  void (*arg)(void* ctx, prism_str_t arg) PRISM_NOEXCEPT;
  void (*env)(void* ctx, prism_str_t name_value) PRISM_NOEXCEPT;
} prism_command_sink_t;

/** Thread: [control] for every function. */
typedef struct prism_runtime {
  uint32_t struct_size;
  uint32_t reserved;
  prism_option_table_t options;
  prism_status_t (*open)(const prism_option_value_t* values, uint64_t value_count,
                         prism_runtime_session_t** session,
                         const prism_error_sink_t* err) PRISM_NOEXCEPT;
  /** Checks, under the environment `env`, what the ranks will need. Writes lines "key=value" that
   *  name the versions in use (they are part of what makes results stale).
   *  Errors: FAILED_PRECONDITION with what is missing and what to do (exit code 4). */
  prism_status_t (*probe)(prism_runtime_session_t* session, const prism_str_t* env,
                          uint64_t env_count, const prism_text_sink_t* out,
                          const prism_error_sink_t* err) PRISM_NOEXCEPT;
  /** Command line and environment that start this rank under interception. */
  prism_status_t (*command)(prism_runtime_session_t* session, const prism_rank_spec_t* spec,
                            const prism_command_sink_t* out,
                            const prism_error_sink_t* err) PRISM_NOEXCEPT;
  /** Command line and environment that run the whole program with its own communication, nothing
   *  intercepted but the marks. */
  prism_status_t (*reference_command)(prism_runtime_session_t* session,
                                      const prism_reference_spec_t* spec,
                                      const prism_command_sink_t* out,
                                      const prism_error_sink_t* err) PRISM_NOEXCEPT;
  /** Command line and environment of a program that measures the link between two processes on
   *  these cores. It prints lines "NAME LOW MEDIAN HIGH" (quartiles) for latency and per_message in
   *  ns, bandwidth, reduce_bandwidth and copy_bandwidth in bytes per second. */
  prism_status_t (*measure_link_command)(prism_runtime_session_t* session, uint32_t first_core,
                                         uint32_t second_core, const prism_str_t* env,
                                         uint64_t env_count, const prism_command_sink_t* out,
                                         const prism_error_sink_t* err) PRISM_NOEXCEPT;
  /** The signal that makes a rank write the stacks of all its threads to standard error. */
  int32_t (*stack_signal)(prism_runtime_session_t* session) PRISM_NOEXCEPT;
  void (*close)(prism_runtime_session_t* session) PRISM_NOEXCEPT;
} prism_runtime_t;

PRISM_EXTERN_C_END
