/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "plugin.h"

#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

const prism_host_t* g_host;
static int inits;

uint64_t scramble(uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

prism_status_t fail(const prism_error_sink_t* err, prism_status_t code, const char* text) {
  if (err != NULL) {
    const prism_str_t message = {text, strlen(text)};
    err->report(err->ctx, code, message);
  }
  return code;
}

void say(const char* text) {
#ifdef MUTANT_needs_log
  if (!g_host->log_enabled(g_host->ctx, PRISM_LOG_INFO)) {
    abort();
  }
#endif
  if (g_host->log_enabled(g_host->ctx, PRISM_LOG_INFO)) {
    const prism_str_t message = {text, strlen(text)};
#ifdef MUTANT_log_level
    g_host->log(g_host->ctx, 9, message);
#else
    g_host->log(g_host->ctx, PRISM_LOG_INFO, message);
#endif
  }
#ifdef MUTANT_log_not_utf8
  const prism_str_t broken = TEXT("caf\xe9");
  g_host->log(g_host->ctx, PRISM_LOG_INFO, broken);
#endif
}

/* ---- options ---- */

#ifndef MUTANT_required_option
static const prism_str_t kModes[] = {TEXT("even"), TEXT("odd")};
#endif
const prism_option_t kRows[OPTION_COUNT] = {
    {
        .name = TEXT("spread"),
        .type = PRISM_OPTION_INT,
#ifdef MUTANT_required_with_bounds
        .required = 1,
#elif defined(MUTANT_bad_default)
        .default_text = TEXT("11"),
#elif defined(MUTANT_default_no_toml)
        .default_text = TEXT("three"),
#else
        .default_text = TEXT("3"),
#endif
#ifdef MUTANT_min_above_max
        .min = 10,
        .max = 1,
#else
        .min = 1,
        .max = 10,
#endif
#ifndef MUTANT_no_doc
        .doc = TEXT("How far apart."),
#endif
    },
#ifdef MUTANT_required_option
    {.name = TEXT("place"), .type = PRISM_OPTION_STRING, .required = 1, .doc = TEXT("Where.")},
#else
    {.name = TEXT("mode"),
     .type = PRISM_OPTION_STRING,
     .default_text = TEXT("\"even\""),
     .choices = kModes,
     .choice_count = 2,
     .doc = TEXT("Which way.")},
#endif
    {.name = TEXT("skew"),
     .type = PRISM_OPTION_FLOAT,
     .default_text = TEXT("0.5"),
     .doc = TEXT("How uneven."),
     .real_max = 1},
};

/* What a session must leave alone. */
static void touch_process(void) {
#ifdef MUTANT_closes_input
  close(STDIN_FILENO);
#endif
#ifdef MUTANT_replaces_input
  const int other = open("/dev/zero", O_RDONLY);
  dup2(other, STDIN_FILENO);
  close(other);
#endif
#ifdef MUTANT_blocks_signals
  sigset_t some;
  sigemptyset(&some);
  sigaddset(&some, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &some, NULL);
#endif
#ifdef MUTANT_lowers_limit
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = 200;
  setrlimit(RLIMIT_NOFILE, &limit);
#endif
#ifdef MUTANT_sets_umask
  umask(0);
#endif
#ifdef MUTANT_changes_folder
  if (chdir("/") != 0) {
    abort();
  }
#endif
#ifdef MUTANT_sets_variable
  setenv("OMP_NUM_THREADS", "77", 1);
#endif
#ifdef MUTANT_sets_locale
  setlocale(LC_ALL, "C.UTF-8");
#endif
}

int64_t checked_spread(const prism_option_value_t* values, uint64_t count,
                       const prism_error_sink_t* err) {
  touch_process();
#ifndef MUTANT_any_number_of_values
  if (count != OPTION_COUNT) {
    fail(err, PRISM_STATUS_INVALID_ARGUMENT, "expected three option values");
    return -1;
  }
#else
  if (count < OPTION_COUNT) {
    return 3;
  }
#endif
  for (uint64_t i = 0; i < OPTION_COUNT; ++i) {
#ifdef MUTANT_any_type_of_value
    if (i == 0) {
      continue;
    }
#endif
    if (values[i].set == 0 || values[i].type != kRows[i].type) {
      fail(err, PRISM_STATUS_INVALID_ARGUMENT, "an option value has the wrong type");
      return -1;
    }
  }
#ifdef MUTANT_crashes_at_bound
  if (values[0].u.integer == 10) {
    abort();
  }
#endif
#ifdef MUTANT_refuses_bound
  if (values[0].u.integer == 10) {
    fail(err, PRISM_STATUS_INVALID_ARGUMENT, "spread is too large");
    return -1;
  }
#endif
#ifdef MUTANT_refuses_choice_silently
  if (values[1].u.text.len == 3 && values[1].u.text.ptr[0] == 'o') {
    return -1;
  }
#endif
#ifdef MUTANT_crashes_on_nan
  if (values[2].u.real != values[2].u.real) {
    abort();
  }
#endif
#ifdef MUTANT_refuses_defaults
  fail(err, PRISM_STATUS_INVALID_ARGUMENT, "nothing suits me");
  return -1;
#endif
  const int64_t spread = values[0].u.integer;
  return spread < 1 || spread > 10 ? 3 : spread;
}

/* ---- the plugin ---- */

#if defined(MUTANT_thread_on_load) || defined(MUTANT_thread_after_deinit)
static void* sleeper(void* nothing) {
  sleep(30);
  return nothing;
}
static void start_sleeper(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, sleeper, NULL);
}
#endif

#ifdef MUTANT_aborts_on_load
__attribute__((constructor)) static void on_load(void) {
  abort();
}
#endif
#ifdef MUTANT_exits_on_load
__attribute__((constructor)) static void on_load(void) {
  exit(0);
}
#endif
#ifdef MUTANT_hangs_on_load
__attribute__((constructor)) static void on_load(void) {
  sleep(1000);
}
#endif
#ifdef MUTANT_slow_load
__attribute__((constructor)) static void on_load(void) {
  usleep(300000);
}
#endif
#ifdef MUTANT_prints_on_load
__attribute__((constructor)) static void on_load(void) {
  puts("Welcome to my plugin!");
}
#endif
#ifdef MUTANT_thread_on_load
__attribute__((constructor)) static void on_load(void) {
  start_sleeper();
}
#endif
#ifdef MUTANT_forks_on_load
__attribute__((constructor)) static void on_load(void) {
  if (fork() == 0) {
    setsid();
    sleep(1000);
    _exit(0);
  }
}
#endif
#ifdef MUTANT_locale_on_load
__attribute__((constructor)) static void on_load(void) {
  setlocale(LC_ALL, "C.UTF-8");
}
#endif
#ifdef MUTANT_writes_on_load
__attribute__((constructor)) static void on_load(void) {
  close(open("plugin.log", O_CREAT | O_WRONLY, 0600));
}
#endif
#ifdef MUTANT_aborts_at_end
__attribute__((destructor)) static void at_end(void) {
  abort();
}
#endif
#ifdef MUTANT_aborts_at_unload
static int exiting;
static void note_exit(int code, void* nothing) {
  (void)code;
  (void)nothing;
  exiting = 1;
}
__attribute__((constructor)) static void on_load(void) {
  on_exit(note_exit, NULL);
}
__attribute__((destructor)) static void at_unload(void) {
  if (!exiting) {
    abort();
  }
}
#endif

static prism_status_t init(const prism_host_t* host, const prism_error_sink_t* err) {
#ifdef MUTANT_init_fails
  return fail(err, PRISM_STATUS_UNAVAILABLE, "the licence server is on fire");
#endif
#ifdef MUTANT_init_fails_silently
  return PRISM_STATUS_INTERNAL;
#endif
#ifdef MUTANT_crashes_in_init
  abort();
#endif
#ifdef MUTANT_init_once
  if (inits > 1) {
    return fail(err, PRISM_STATUS_FAILED_PRECONDITION, "init was called already");
  }
#endif
#ifdef MUTANT_host_size_exact
  if (host->struct_size != sizeof(prism_host_t)) {
    return fail(err, PRISM_STATUS_FAILED_PRECONDITION, "unknown host");
  }
#endif
#ifdef MUTANT_host_minor_exact
  if (host->abi_minor != PRISM_ABI_MINOR) {
    return fail(err, PRISM_STATUS_FAILED_PRECONDITION, "unknown minor version");
  }
#endif
#ifdef MUTANT_reads_behind_host
  if (((const volatile char*)host)[sizeof(prism_host_t)] == 0x11) {
    return PRISM_STATUS_INTERNAL;
  }
#endif
#ifdef MUTANT_thread_after_deinit
  start_sleeper();
#endif
#ifdef MUTANT_ignores_interrupts
  signal(SIGINT, SIG_IGN);
#endif
  (void)err;
  ++inits;
  g_host = host;
  return PRISM_STATUS_OK;
}

static void deinit(void) {
#ifdef MUTANT_deinit_once
  if (g_host == NULL) {
    abort();
  }
#endif
  g_host = NULL;
}

static const void* get_interface(prism_str_t id) {
#ifdef MUTANT_interface_missing
  return NULL;
#endif
#ifdef MUTANT_interface_moves
  static char copies[2][512];
  static int turn;
  if (id.len == strlen(kInterface) && memcmp(id.ptr, kInterface, id.len) == 0) {
    turn = !turn;
    memcpy(copies[turn], kInterfaceTable, *(const uint32_t*)kInterfaceTable);
    return copies[turn];
  }
  return NULL;
#endif
#ifdef MUTANT_any_interface
  return kInterfaceTable;
#endif
#ifdef MUTANT_prefix_matches
  return id.len > 0 && memcmp(id.ptr, kInterface, id.len < 7 ? id.len : 7) == 0 ? kInterfaceTable
                                                                                : NULL;
#endif
#ifdef MUTANT_ignores_length
  return id.len >= strlen(kInterface) && memcmp(id.ptr, kInterface, strlen(kInterface)) == 0
             ? kInterfaceTable
             : NULL;
#endif
  return id.len == strlen(kInterface) && memcmp(id.ptr, kInterface, id.len) == 0 ? kInterfaceTable
                                                                                 : NULL;
}

#ifdef MUTANT_extra_export
__attribute__((visibility("default"))) int helper_of_mine(int x);
int helper_of_mine(int x) {
  return x + 1;
}
#endif

#ifdef MUTANT_no_entry
#define prism_plugin_v1 another_name
#endif

__attribute__((visibility("default"))) const prism_plugin_t* prism_plugin_v1(void);

const prism_plugin_t* prism_plugin_v1(void) {
  static const prism_plugin_t table = {
#ifdef MUTANT_small_table
      24,
#elif defined(MUTANT_huge_table)
      UINT32_MAX,
#else
      sizeof(prism_plugin_t),
#endif
#ifdef MUTANT_reserved_set
      1,
#else
      0,
#endif
#ifdef MUTANT_other_major
      2,
#else
      PRISM_ABI_MAJOR,
#endif
      PRISM_ABI_MINOR,
      0,
#ifdef MUTANT_other_id
      TEXT("somebody_else"),
#elif defined(MUTANT_id_not_utf8)
      TEXT("caf\xe9"),
#else
      TEXT(PRISM_PLUGIN_ID),
#endif
#ifdef MUTANT_other_version
      TEXT("9.9.9"),
#else
      TEXT(PRISM_PLUGIN_VERSION),
#endif
      init,
      deinit,
      get_interface};
#ifdef MUTANT_no_table
  return NULL;
#endif
#ifdef MUTANT_table_moves
  static prism_plugin_t copies[2];
  static int turn;
  turn = !turn;
  copies[turn] = table;
  return &copies[turn];
#endif
  return &table;
}
