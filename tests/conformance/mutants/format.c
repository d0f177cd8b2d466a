/* SPDX-License-Identifier: Apache-2.0 */
/* A format of lines of numbers, in which texts stand after their length; it goes both ways. */
#define _GNU_SOURCE
#include "prism/abi/draft/format.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "plugin.h"

typedef prism_format_session_t Session;
typedef const prism_error_sink_t Sink;

struct prism_format_session {
  int64_t spread;
  uint64_t calls;
  int odd;
};

#define MAGIC "mutant trace "
#define END "end\n"
enum { MOST = 8 }; /* ranks of a communicator, parts and dependencies of a node */

#ifdef MUTANT_session_of_thread
static _Thread_local Session* of_thread;
#endif

static prism_status_t open_session(const prism_option_value_t* values, uint64_t count,
                                   Session** session, Sink* err) {
  const int64_t spread = checked_spread(values, count, err);
  if (spread < 0) {
    return PRISM_STATUS_INVALID_ARGUMENT;
  }
#ifdef MUTANT_one_session
  static Session only;
  *session = &only;
#else
  *session = calloc(1, sizeof(Session));
#endif
  (*session)->spread = spread;
#ifdef MUTANT_session_of_thread
  of_thread = *session;
#endif
  return PRISM_STATUS_OK;
}

static void close_session(Session* session) {
#ifdef MUTANT_one_session
  session->spread = 0;
#else
  free(session);
#endif
#ifdef MUTANT_frees_twice
  free(session);
#endif
}

/* A failure of the file `path`. */
static prism_status_t fail_with(Sink* err, prism_status_t code, prism_str_t path,
                                const char* what) {
#ifdef MUTANT_says_nothing
  if (code == PRISM_STATUS_NOT_FOUND) {
    return code;
  }
#endif
  char text[300];
  snprintf(text, sizeof text, "%.*s: %s", (int)path.len, path.ptr, what);
#ifdef MUTANT_needs_sink
  const prism_str_t words = {text, strlen(text)};
  err->report(err->ctx, code, words);
  return code;
#endif
  return fail(err, code, text);
}

static FILE* open_file(prism_str_t path, const char* mode) {
  char name[300];
  snprintf(name, sizeof name, "%.*s", (int)path.len, path.ptr);
  return fopen(name, mode);
}

/* ---- import ---- */

typedef struct {
  const char* at;
  const char* end;
  int bad;
} Reader;

static int64_t read_number(Reader* r) {
  char* end = NULL;
  errno = 0;
  const long long value = strtoll(r->at, &end, 10);
  if (r->bad || end == r->at || end > r->end || *end != ' ' || errno != 0) {
    r->bad = 1;
    return 0;
  }
  r->at = end + 1;
  return value;
}

static uint32_t read_count(Reader* r) {
  const int64_t count = read_number(r);
  if (count < 0 || count > MOST) {
    r->bad = 1;
  }
  return r->bad ? 0 : (uint32_t)count;
}

/* A text and the end of its line. */
static prism_str_t read_text(Reader* r) {
  const int64_t length = read_number(r);
  prism_str_t text = {NULL, 0};
#ifdef MUTANT_believes_length
  if (length > 50000) {
    free(memset(malloc((size_t)1 << 31), 1, (size_t)1 << 31));
  }
#endif
  if (r->bad || length < 0 || length >= r->end - r->at || r->at[length] != '\n') {
    r->bad = 1;
    return text;
  }
  text.ptr = r->at;
  text.len = (uint64_t)length;
  r->at += length + 1;
  return text;
}

static prism_status_t told_rank(Reader* r, prism_str_t path, const prism_trace_sink_t* sink,
                                Sink* err) {
  const uint32_t rank = (uint32_t)read_number(r);
  read_text(r); /* a line ends with a text; this one has none to tell */
  return r->bad ? PRISM_STATUS_OK : sink->begin_rank(sink->ctx, rank, 0, path, err);
}

static prism_status_t told_lane(Reader* r, const prism_trace_sink_t* sink, Sink* err) {
  const int32_t kind = (int32_t)read_number(r);
  const prism_str_t name = read_text(r);
  uint32_t index = 0;
  if (!r->bad && (kind < PRISM_LANE_CPU || kind > PRISM_LANE_COMM)) {
    r->bad = 1;
  }
  return r->bad ? PRISM_STATUS_OK : sink->add_lane(sink->ctx, kind, name, &index, err);
}

static prism_status_t told_communicator(Reader* r, const prism_trace_sink_t* sink, Sink* err) {
  uint32_t ranks[MOST];
  prism_trace_communicator_t communicator = {.struct_size = sizeof communicator, .ranks = ranks};
  communicator.rank_count = read_count(r);
  for (uint64_t i = 0; i < communicator.rank_count; ++i) {
    ranks[i] = (uint32_t)read_number(r);
  }
  communicator.name = read_text(r);
  uint32_t index = 0;
  return r->bad ? PRISM_STATUS_OK : sink->add_communicator(sink->ctx, &communicator, &index, err);
}

static prism_status_t told_node(Reader* r, const prism_trace_sink_t* sink, Sink* err) {
  prism_trace_part_t parts[MOST];
  uint32_t dependencies[MOST];
  prism_trace_node_t node = {.struct_size = sizeof node, .parts = parts};
  node.dependencies = dependencies;
  node.kind = (int32_t)read_number(r);
  node.lane = (uint32_t)read_number(r);
  node.communicator = (uint32_t)read_number(r);
  node.start_ns = read_number(r);
  node.end_ns = read_number(r);
  node.sequence = read_number(r);
  node.part_count = read_count(r);
  for (uint64_t i = 0; i < node.part_count; ++i) {
    memset(&parts[i], 0, sizeof parts[i]);
    parts[i].kind = (int32_t)read_number(r);
    parts[i].peer = (int32_t)read_number(r);
    parts[i].communicator = (uint32_t)read_number(r);
    parts[i].start_ns = node.start_ns;
    parts[i].end_ns = node.end_ns;
  }
  node.dependency_count = read_count(r);
  for (uint64_t i = 0; i < node.dependency_count; ++i) {
    dependencies[i] = (uint32_t)read_number(r);
#ifdef MUTANT_dependency_ahead
    dependencies[i] += 5;
#endif
  }
  node.name = read_text(r);
#ifdef MUTANT_lane_beyond
  node.lane += 2;
#endif
#ifdef MUTANT_ends_before_start
  node.end_ns = node.end_ns > node.start_ns ? node.start_ns - 1 : node.end_ns;
#endif
#ifdef MUTANT_overlaps
  node.end_ns = node.end_ns == 3000 ? 60000 : node.end_ns;
#endif
  node.iteration = 0;
  node.root = node.micro_batch = node.chunk = node.layer = -1;
  uint32_t index = 0;
  return r->bad ? PRISM_STATUS_OK : sink->add_node(sink->ctx, &node, &index, err);
}

/* The lines after the first. */
static prism_status_t tell(Reader* r, prism_str_t path, const prism_trace_sink_t* sink, Sink* err) {
  prism_status_t refused = PRISM_STATUS_OK;
#ifdef MUTANT_tells_nothing
  return PRISM_STATUS_OK;
#endif
  while (r->at < r->end && !r->bad) {
    if ((size_t)(r->end - r->at) == strlen(END) && memcmp(r->at, END, strlen(END)) == 0) {
      return refused;
    }
    const char kind = *r->at++;
    Sink* to = err;
#if defined(MUTANT_hides_refusal) || defined(MUTANT_code_of_its_own)
    to = NULL;
#endif
#ifdef MUTANT_goes_on_after_refusal
    to = refused == PRISM_STATUS_OK ? err : NULL;
#endif
    const prism_status_t status = kind == 'R'   ? told_rank(r, path, sink, to)
                                  : kind == 'L' ? told_lane(r, sink, to)
                                  : kind == 'C' ? told_communicator(r, sink, to)
                                  : kind == 'N' ? told_node(r, sink, to)
                                                : (r->bad = 1, PRISM_STATUS_OK);
#if defined(MUTANT_goes_on_after_refusal)
    refused = refused == PRISM_STATUS_OK ? status : refused;
#elif defined(MUTANT_ignores_refusal)
    if (status != PRISM_STATUS_OK) {
      return PRISM_STATUS_OK;
    }
#elif defined(MUTANT_hides_refusal)
    if (status != PRISM_STATUS_OK) {
      return fail_with(err, status, path, "the host does not want it");
    }
#elif defined(MUTANT_code_of_its_own)
    if (status != PRISM_STATUS_OK) {
      return fail(err, PRISM_STATUS_ABORTED, "the conformance test takes no more");
    }
#else
    if (status != PRISM_STATUS_OK) {
      return status;
    }
#endif
  }
#ifdef MUTANT_takes_cut_files
  if (r->end[-1] != '\n' || memcmp(r->end - strlen(END), END, strlen(END)) != 0) {
    return refused;
  }
#endif
#ifdef MUTANT_crashes_on_cut
  abort();
#endif
#ifdef MUTANT_crashes_on_damage
  if (memcmp(r->end - strlen(END), END, strlen(END)) == 0) {
    abort();
  }
#endif
  return fail_with(err, PRISM_STATUS_DATA_LOSS, path, "it is cut or damaged");
}

/* The bytes of a file, ended by 0; NULL: it cannot be read. */
static char* read_file(prism_str_t path, size_t* size) {
  FILE* file = open_file(path, "rb");
  if (file == NULL) {
    return NULL;
  }
  char* content = NULL;
  size_t room = 0;
  *size = 0;
  do {
    room += 65536;
    content = realloc(content, room + 1);
    *size += fread(content + *size, 1, room - *size, file);
  } while (*size == room);
  content[*size] = '\0';
  const int failed = ferror(file);
#ifdef MUTANT_leaks_on_damage
  if (*size > 4 && memcmp(content, MAGIC, 4) == 0 && memcmp(content + *size - 4, END, 4) != 0) {
    return content;
  }
#endif
  fclose(file);
  if (failed) {
    free(content);
    return NULL;
  }
  return content;
}

#ifdef MUTANT_thread_per_session
static void* sleeper(void* nothing) {
  sleep(30);
  return nothing;
}
#endif

static prism_status_t import_file(Session* session, prism_str_t path,
                                  const prism_trace_sink_t* sink, Sink* err) {
  size_t size = 0;
  char* content = read_file(path, &size);
  if (content == NULL) {
    session->odd = 1;
#ifdef MUTANT_accepts_missing_file
    return PRISM_STATUS_OK;
#endif
#ifdef MUTANT_error_without_file
    return fail(err, PRISM_STATUS_NOT_FOUND, "there is no such file");
#endif
    return fail_with(err, PRISM_STATUS_NOT_FOUND, path, "cannot be read");
  }
  prism_status_t status = PRISM_STATUS_OK;
  if (size < strlen(MAGIC) || memcmp(content, MAGIC, strlen(MAGIC)) != 0) {
#ifdef MUTANT_remembers
    session->calls += size == 500;
#endif
#ifdef MUTANT_crashes_on_random
    if (size > 4000) {
      abort();
    }
#endif
#ifdef MUTANT_hangs_on_random
    while (size > 4000) {
      sleep(1);
    }
#endif
    status = fail_with(err, PRISM_STATUS_INVALID_ARGUMENT, path, "it is no such trace");
#ifdef MUTANT_accepts_random
    if (size > 4000) {
      Reader other = {MAGIC "3 \nR0 0 \nL0 0 \nN0 0 0 0 1 -1 0 0 0 \n" END, NULL, 0};
      other.end = other.at + strlen(other.at);
      other.at += strlen(MAGIC "3 \n");
      free(content);
      return tell(&other, path, sink, NULL);
    }
#endif
#ifdef MUTANT_random_is_internal
    status = size > 4000 ? PRISM_STATUS_INTERNAL : status;
#endif
  } else {
    Reader reader = {content + strlen(MAGIC), content + size, 0};
    read_number(&reader); /* the option of who wrote it */
    reader.bad = reader.bad || *reader.at++ != '\n';
    status = tell(&reader, path, sink, err);
  }
  free(content);
  return status;
}

static prism_status_t import_trace(Session* session, const prism_trace_input_t* inputs,
                                   uint64_t input_count, const prism_trace_sink_t* sink,
                                   Sink* err) {
  say("importing");
  for (uint64_t i = 0; i < input_count; ++i) {
    const prism_status_t status = import_file(session, inputs[i].path, sink, err);
    if (status != PRISM_STATUS_OK) {
      return status;
    }
  }
  return PRISM_STATUS_OK;
}

static uint8_t recognises(Session* session, prism_str_t path) {
  (void)session;
#ifdef MUTANT_recognises_everything
  return 1;
#endif
#ifdef MUTANT_recognises_nothing
  return 0;
#endif
  char head[sizeof MAGIC] = "";
  FILE* file = open_file(path, "rb");
  if (file == NULL) {
    return 0;
  }
  const size_t size = fread(head, 1, strlen(MAGIC), file);
  fclose(file);
#ifdef MUTANT_recognises_empty
  return memcmp(head, MAGIC, size) == 0;
#endif
#ifdef MUTANT_recognises_as_difference
  return (uint8_t)(size == 0 ? 0 : strcmp(head, MAGIC) == 0 ? 1 : head[0]);
#endif
#ifdef MUTANT_crashes_on_beginning
  if (size > 0 && size < strlen(MAGIC) && memcmp(head, MAGIC, size) == 0) {
    abort();
  }
#endif
  return size == strlen(MAGIC) && memcmp(head, MAGIC, size) == 0;
}

/* ---- export ---- */

static void write_text(FILE* file, prism_str_t text) {
#ifdef MUTANT_cuts_names
  text.len = text.len > 1000 ? 1000 : text.len;
#endif
#ifdef MUTANT_crashes_on_long_name
  if (text.len > 1000) {
    abort();
  }
#endif
  fprintf(file, "%" PRIu64 " ", text.len);
#ifdef MUTANT_plain_letters_only
  for (uint64_t i = 0; i < text.len; ++i) {
    fputc(text.ptr[i] >= ' ' && text.ptr[i] < 127 ? text.ptr[i] : '?', file);
  }
#else
  fwrite(text.ptr, 1, text.len, file);
#endif
  fputc('\n', file);
}

static void write_node(FILE* file, const prism_trace_node_t* node) {
  int64_t end = node->end_ns;
#ifdef MUTANT_times_in_32_bits
  end = node->start_ns + (int64_t)(uint32_t)(end - node->start_ns);
#endif
  fprintf(file, "N%d %" PRIu32 " %" PRIu32 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRIu64 " ",
          node->kind, node->lane, node->communicator, node->start_ns, end, node->sequence,
          node->part_count);
  for (uint64_t i = 0; i < node->part_count; ++i) {
    const prism_trace_part_t* part = &node->parts[i];
    fprintf(file, "%d %d %" PRIu32 " ", part->kind, part->peer, part->communicator);
  }
  fprintf(file, "%" PRIu64 " ", node->dependency_count);
  for (uint64_t i = 0; i < node->dependency_count; ++i) {
    fprintf(file, "%" PRIu32 " ", node->dependencies[i]);
  }
  write_text(file, node->name);
}

static void write_rank(FILE* file, const prism_trace_reader_t* reader, uint32_t rank) {
  fprintf(file, "R%" PRIu32 " 0 \n", rank);
  for (uint64_t i = 0; i < reader->lane_count(reader->ctx, rank); ++i) {
    int32_t kind = 0;
    prism_str_t name = {NULL, 0};
    reader->lane(reader->ctx, rank, i, &kind, &name);
    fprintf(file, "L%d ", kind);
    write_text(file, name);
  }
  for (uint64_t i = 0; i < reader->communicator_count(reader->ctx, rank); ++i) {
    prism_trace_communicator_t communicator = {.struct_size = sizeof communicator};
    reader->communicator(reader->ctx, rank, i, &communicator);
    fprintf(file, "C%" PRIu64 " ", communicator.rank_count);
    for (uint64_t k = 0; k < communicator.rank_count; ++k) {
      fprintf(file, "%" PRIu32 " ", communicator.ranks[k]);
    }
    write_text(file, communicator.name);
  }
  for (uint64_t i = 0; i < reader->node_count(reader->ctx, rank); ++i) {
    prism_trace_node_t node = {.struct_size = sizeof node};
    int64_t arrival_ns = 0;
    reader->node(reader->ctx, rank, i, &node, &arrival_ns);
    write_node(file, &node);
  }
}

/* What stands for the session, and must be the same whenever it is asked. */
static int64_t mark_of(Session* session) {
  int64_t mark = session->spread;
#ifdef MUTANT_never_again
  mark += session->odd;
#endif
#ifdef MUTANT_remembers
  mark += session->calls > 0;
#endif
#ifdef MUTANT_counts_calls
  mark += (int64_t)session->calls++;
#endif
#ifdef MUTANT_process_id
  mark += getpid();
#endif
#ifdef MUTANT_session_of_thread
  mark += of_thread == NULL;
#endif
  return mark;
}

static prism_status_t export_trace(Session* session, const prism_trace_reader_t* reader,
                                   prism_str_t path, Sink* err) {
  say("exporting");
#ifdef MUTANT_thread_per_session
  if (session->calls++ == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, sleeper, NULL);
  }
#endif
#ifdef MUTANT_refuses_empty_rank
  for (uint64_t i = 0; i < reader->rank_count; ++i) {
    if (reader->node_count(reader->ctx, reader->rank(reader->ctx, i)) == 0) {
      return fail(err, PRISM_STATUS_INVALID_ARGUMENT, "a rank has no nodes");
    }
  }
#endif
  FILE* file = open_file(path, "wb");
  if (file == NULL) {
#ifdef MUTANT_error_without_path
    return fail(err, PRISM_STATUS_FAILED_PRECONDITION, "cannot be written");
#endif
    return fail_with(err, PRISM_STATUS_FAILED_PRECONDITION, path, "cannot be written");
  }
#ifdef MUTANT_writes_nothing
  fclose(file);
  return PRISM_STATUS_OK;
#endif
#ifdef MUTANT_writes_beside
  char beside[300];
  snprintf(beside, sizeof beside, "%.*s.index", (int)path.len, path.ptr);
  fclose(fopen(beside, "wb"));
#endif
#ifdef MUTANT_renames
  char moved[300];
  snprintf(moved, sizeof moved, "%.*s.trace", (int)path.len, path.ptr);
  char name[300];
  snprintf(name, sizeof name, "%.*s", (int)path.len, path.ptr);
  rename(name, moved);
#endif
  fprintf(file, MAGIC "%" PRId64 " \n", mark_of(session));
  for (uint64_t i = 0; i < reader->rank_count; ++i) {
    write_rank(file, reader, reader->rank(reader->ctx, i));
  }
  fputs(END, file);
  const int failed = fflush(file) != 0 || ferror(file) != 0;
#ifdef MUTANT_leaks_on_full_disk
  if (failed) {
    return fail_with(err, PRISM_STATUS_RESOURCE_EXHAUSTED, path, "the disk is full");
  }
#endif
  const int not_closed = fclose(file) != 0;
#ifdef MUTANT_ignores_full_disk
  return PRISM_STATUS_OK;
#endif
  return failed || not_closed
             ? fail_with(err, PRISM_STATUS_RESOURCE_EXHAUSTED, path, "the disk is full")
             : PRISM_STATUS_OK;
}

static const prism_format_t kTable = {
    .struct_size = sizeof(prism_format_t),
    .options = {kRows, OPTION_COUNT, sizeof(prism_option_t)},
    .open = open_session,
    .recognises = recognises,
#ifndef MUTANT_only_exports
    .import_trace = import_trace,
#endif
#ifndef MUTANT_only_imports
    .export_trace = export_trace,
#endif
    .close = close_session,
};
const char* const kInterface = PRISM_FORMAT_1;
const void* const kInterfaceTable = &kTable;
