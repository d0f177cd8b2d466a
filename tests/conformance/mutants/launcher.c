/* SPDX-License-Identifier: Apache-2.0 */
/* A launcher that starts nothing: of a draft without semantics to test, the options are. */
#include "prism/abi/draft/launcher.h"

#include "plugin.h"

typedef prism_launcher_session_t Session;
typedef const prism_error_sink_t Sink;

static prism_status_t open_session(const prism_option_value_t* values, uint64_t count,
                                   Session** session, Sink* err) {
  *session = NULL;
  return checked_spread(values, count, err) < 0 ? PRISM_STATUS_INVALID_ARGUMENT : PRISM_STATUS_OK;
}

static void describe(Session* session, const prism_text_sink_t* out) {
  (void)session;
  const prism_str_t text = TEXT("nothing");
  out->write(out->ctx, text);
}

static prism_status_t spawn(Session* session, const prism_launch_spec_t* spec, uint64_t* process,
                            Sink* err) {
  (void)session;
  (void)spec;
  (void)process;
  return fail(err, PRISM_STATUS_UNIMPLEMENTED, "starts nothing");
}

static prism_status_t send_signal(Session* session, uint64_t process, int32_t signo, Sink* err) {
  (void)session;
  (void)process;
  (void)signo;
  return fail(err, PRISM_STATUS_NOT_FOUND, "has started nothing");
}

static int32_t event_fd(Session* session) {
  (void)session;
  return -1;
}

static prism_status_t next_exit(Session* session, prism_process_exit_t* out, Sink* err) {
  (void)session;
  (void)out;
  return fail(err, PRISM_STATUS_NOT_FOUND, "has started nothing");
}

static void close_session(Session* session) {
  (void)session;
}

static const prism_launcher_t kTable = {sizeof(prism_launcher_t),
                                        0,
                                        {kRows, OPTION_COUNT, sizeof(prism_option_t)},
                                        open_session,
                                        describe,
                                        spawn,
                                        send_signal,
                                        event_fd,
                                        next_exit,
                                        close_session};
const char* const kInterface = PRISM_LAUNCHER_1;
const void* const kInterfaceTable = &kTable;
