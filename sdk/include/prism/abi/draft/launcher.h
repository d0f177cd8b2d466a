/* SPDX-License-Identifier: Apache-2.0 */
/**
 * prism.launcher/1 (draft: host and plugin must match exactly): starts processes on this machine,
 * or on the nodes of an allocation, under one guard whose death ends them all.
 */
#pragma once

#include "prism/abi/error.h"
#include "prism/abi/option.h"

PRISM_EXTERN_C_BEGIN

#define PRISM_LAUNCHER_1 "prism.launcher/1"

/** A session: one guard and the processes under it. Opaque, owned by the plugin. */
typedef struct prism_launcher_session prism_launcher_session_t;

/** A descriptor that the child gets: `source` in the host becomes `target` in the child. */
typedef struct prism_fd_map {
  int32_t source;
  int32_t target;
} prism_fd_map_t;

/** What to start. Ownership: borrowed for the call; descriptors stay the caller's. */
typedef struct prism_launch_spec {
  uint32_t struct_size;
  uint32_t reserved;
  const prism_str_t* argv; /**< argv[0] is looked up in the PATH of `env` when it has no slash */
  uint64_t argc;
  const prism_str_t* env; /**< the whole environment, "NAME=value" */
  uint64_t envc;
  prism_str_t cwd;
  prism_str_t stdout_path; /**< created or truncated */
  prism_str_t stderr_path;
  const uint32_t* cores; /**< cores that the process may use; none: all */
  uint64_t core_count;
  const prism_fd_map_t* fds;
  uint64_t fd_count;
  prism_str_t node; /**< empty: this machine */
} prism_launch_spec_t;

/** A process that has ended. */
typedef struct prism_process_exit {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t process;
  int32_t exit_code; /**< valid when signal is 0 */
  int32_t signal;    /**< the signal that ended it, or 0 */
} prism_process_exit_t;

/** Thread: [control] for every function; never concurrent for one session. */
typedef struct prism_launcher {
  uint32_t struct_size;
  uint32_t reserved;
  prism_option_table_t options;
  /** Starts the guard. `values` has one entry per row of `options`.
   *  Errors: FAILED_PRECONDITION when this machine cannot do it (exit code 4). */
  prism_status_t (*open)(const prism_option_value_t* values, uint64_t value_count,
                         prism_launcher_session_t** session,
                         const prism_error_sink_t* err) PRISM_NOEXCEPT;
  /** One line on how processes are kept together, e.g. "PID and mount namespace". */
  void (*describe)(prism_launcher_session_t* session, const prism_text_sink_t* out) PRISM_NOEXCEPT;
  /** Starts a process; returns once exec succeeded. `process`: a number of this session.
   *  Errors: NOT_FOUND (program), PERMISSION_DENIED, RESOURCE_EXHAUSTED, UNAVAILABLE (no guard). */
  prism_status_t (*spawn)(prism_launcher_session_t* session, const prism_launch_spec_t* spec,
                          uint64_t* process, const prism_error_sink_t* err) PRISM_NOEXCEPT;
  /** Sends a signal to a process. Errors: NOT_FOUND when it has ended. */
  prism_status_t (*signal)(prism_launcher_session_t* session, uint64_t process, int32_t signo,
                           const prism_error_sink_t* err) PRISM_NOEXCEPT;
  /** A descriptor that polls readable while next_exit has something. Owned by the session. */
  int32_t (*event_fd)(prism_launcher_session_t* session) PRISM_NOEXCEPT;
  /** Takes the next ended process. NOT_FOUND: none now. UNAVAILABLE: the guard has died. */
  prism_status_t (*next_exit)(prism_launcher_session_t* session, prism_process_exit_t* out,
                              const prism_error_sink_t* err) PRISM_NOEXCEPT;
  /** Kills what still runs, descendants included, and ends the guard; returns when all are gone. */
  void (*close)(prism_launcher_session_t* session) PRISM_NOEXCEPT;
} prism_launcher_t;

PRISM_EXTERN_C_END
