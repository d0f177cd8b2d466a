/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin that does MISBEHAVIOUR while it is initialised. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "prism/abi/plugin.h"

#define ABORTS 1
#define HANGS 2
#define EXITS 3
#define PRINTS 4
#define ALLOCATES 5
#define CRASHES_AT_END 6
#define HANGS_AT_END 7
#define LEAVES_A_DAEMON 8
#define FORKS 9
#define FILLS_THE_DISK 10

static prism_status_t init(const prism_host_t* host, const prism_error_sink_t* err) {
  (void)host;
  (void)err;
#if MISBEHAVIOUR == ABORTS
  abort();
#elif MISBEHAVIOUR == HANGS
  for (;;) {
    pause();
  }
#elif MISBEHAVIOUR == EXITS
  exit(0);
#elif MISBEHAVIOUR == PRINTS
  printf("loaded\nnot the answer\n");
  fflush(stdout);
  fprintf(stderr, "noise\n");
#elif MISBEHAVIOUR == ALLOCATES
  while (malloc(1U << 26) != NULL) {
  }
  abort();
#elif MISBEHAVIOUR == LEAVES_A_DAEMON
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      sleep(120); /* an end in any case */
    }
    _exit(0);
  }
  wait(NULL);
#elif MISBEHAVIOUR == FORKS
  const pid_t copy = fork(); /* which comes back too */
  if (copy > 0) {
    waitpid(copy, NULL, 0);
  }
#elif MISBEHAVIOUR == FILLS_THE_DISK
  FILE* file = tmpfile();
  static char piece[1U << 20];
  memset(piece, 1, sizeof piece);
  for (int i = 0; i < 100; ++i) {
    fwrite(piece, 1, sizeof piece, file);
  }
#endif
  return PRISM_STATUS_OK;
}

static void deinit(void) {
#if MISBEHAVIOUR == CRASHES_AT_END
  raise(SIGSEGV);
#elif MISBEHAVIOUR == HANGS_AT_END
  for (;;) {
    pause();
  }
#endif
}

static const void* get_interface(prism_str_t id) {
  static const char kId[] = "com.example.nothing/1";
  return id.len == sizeof kId - 1 && memcmp(id.ptr, kId, sizeof kId - 1) == 0 ? kId : NULL;
}

__attribute__((visibility("default"))) const prism_plugin_t* prism_plugin_v1(void);

const prism_plugin_t* prism_plugin_v1(void) {
  static const prism_plugin_t table = {
      .struct_size = sizeof(prism_plugin_t),
      .abi_major = PRISM_ABI_MAJOR,
      .abi_minor = PRISM_ABI_MINOR,
      .id = {PRISM_PLUGIN_ID, sizeof(PRISM_PLUGIN_ID) - 1},
      .version = {PRISM_PLUGIN_VERSION, sizeof(PRISM_PLUGIN_VERSION) - 1},
      .init = init,
      .deinit = deinit,
      .get_interface = get_interface,
  };
  return &table;
}
