// SPDX-License-Identifier: Apache-2.0
/// The Chrome JSON form: a process per data-parallel rank, five threads per rank with names as
/// "PP rank 1, TP rank 0, compute", slices in microseconds, a communication from when the last of
/// its ranks had arrived. The threads of rank r are r * 5 and the next four.
#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <simdjson.h>

#include "input_file.hpp"
#include "trace.hpp"

#include "prism/sdk/error.hpp"

namespace prism::microbatch {
namespace {

namespace json = simdjson::ondemand;

// The text is in memory as a whole, and simdjson needs up to six times as much again.
constexpr size_t kMostText = size_t{256} << 20;
constexpr size_t kStep = size_t{16} << 20;
constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();

std::string read_text(const std::string& path) {
  InputFile file(path);
  std::string text;
  size_t got = kStep;
  while (got == kStep) {
    const size_t before = text.size();
    if (before >= kMostText) {
      throw sdk::Error(PRISM_STATUS_RESOURCE_EXHAUSTED,
                       path + ": more than 256 MiB of JSON; take fewer steps of the job");
    }
    text.resize(before + kStep);
    got = file.read(std::span(text).subspan(before));
    text.resize(before + got);
  }
  return text;
}

/// A number as written; simdjson's token may hold the blanks behind it.
std::string_view token(json::value value) {
  std::string_view text = value.raw_json_token();
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\r' ||
                           text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

/// "PP rank 1, TP rank 0, compute": the 1, and "compute".
struct ThreadName {
  int64_t stage = 0;
  std::string work;
};

std::optional<ThreadName> parse_thread(std::string_view name) {
  constexpr std::string_view kStage = "PP rank ";
  const size_t first = name.find(',');
  const size_t last = name.rfind(", ");
  if (!name.starts_with(kStage) || first == last || last == std::string_view::npos) {
    return std::nullopt;
  }
  const auto stage = parse_whole(name.substr(kStage.size(), first - kStage.size()));
  if (!stage || *stage < 0 || *stage > kLargest) {
    return std::nullopt;
  }
  return ThreadName{*stage, std::string(name.substr(last + 2))};
}

/// What an event may say, as far as it was there.
struct Fields {
  std::string_view name;
  std::string_view phase;
  std::string_view thread;  ///< args.name
  std::optional<int64_t> pid;
  std::optional<int64_t> tid;
  std::optional<FineTime> start;
  std::optional<FineTime> duration;
  std::optional<int64_t> step;
  int32_t chunk = -1;
  int32_t micro_batch = -1;
  int32_t sequence = -1;
};

class JsonReader {
 public:
  explicit JsonReader(const std::string& path) {
    trace_.path = path;
    trace_.json = true;
  }

  Trace read() {
    std::string text = read_text(trace_.path);
    const size_t length = text.size();
    text.resize(length + simdjson::SIMDJSON_PADDING);
    try {
      json::parser parser;
      json::document document =
          parser.iterate(simdjson::padded_string_view(text.data(), length, text.size()));
      json::array events;
      if (document.type() == json::json_type::object) {
        events = document.get_object().find_field_unordered("traceEvents").get_array();
      } else {
        events = document.get_array();
      }
      for (json::value event : events) {
        add(event.get_object());
        ++place_;
      }
    } catch (const simdjson::simdjson_error& error) {
      fail(PRISM_STATUS_DATA_LOSS, std::string("no trace in JSON from here on: ") + error.what() +
                                       "; is the file cut or damaged?");
    }
    name_workers();
    trace_.finish();
    return std::move(trace_);
  }

 private:
  using Thread = std::pair<int64_t, int64_t>;  // process, thread

  [[noreturn]] void fail(prism_status_t code, const std::string& what) const {
    throw sdk::Error(code, trace_.where(place_) + ": " + what);
  }
  [[noreturn]] void unexpected(std::string_view name, std::string_view is,
                               const std::string& expected) const {
    fail(PRISM_STATUS_INVALID_ARGUMENT,
         std::string(name) + " is " + shown(is) + "; " + expected + " was expected");
  }

  [[noreturn]] void too_large(std::string_view name, std::string_view is) const {
    fail(PRISM_STATUS_INVALID_ARGUMENT,
         std::string(name) + " is " + shown(is) + ", which is too large");
  }

  void add(json::object object) {
    const Fields fields = parse(object);
    if (fields.phase == "M" && fields.name == "thread_name") {
      name_thread(fields);
    } else if (fields.phase == "X") {
      add_slice(fields);
    }
  }

  Fields parse(json::object object) const {
    Fields fields;
    for (json::field field : object) {
      const std::string_view key = field.unescaped_key();
      json::value value = field.value();
      if (key == "name") {
        fields.name = value.get_string();
      } else if (key == "ph") {
        fields.phase = value.get_string();
      } else if (key == "pid") {
        fields.pid = whole(key, value);
      } else if (key == "tid") {
        fields.tid = whole(key, value);
      } else if (key == "ts") {
        fields.start = time(key, value);
      } else if (key == "dur") {
        fields.duration = time(key, value);
      } else if (key == "args") {
        parse_arguments(value.get_object(), fields);
      }
    }
    return fields;
  }

  void parse_arguments(json::object object, Fields& fields) const {
    for (json::field field : object) {
      const std::string_view key = field.unescaped_key();
      json::value value = field.value();
      if (key == "name") {
        fields.thread = value.get_string();
      } else if (key == "step") {
        fields.step = whole(key, value);
      } else if (key == "model_chunk") {
        fields.chunk = label(key, value);
      } else if (key == "mb_id") {
        fields.micro_batch = label(key, value);
      } else if (key == "seq_id") {
        fields.sequence = label(key, value);
      }
    }
  }

  int64_t whole(std::string_view key, json::value value) const {
    const std::string_view text = token(value);
    const std::optional<int64_t> number = parse_whole(text);
    if (!number || *number < 0) {
      if (is_too_large(text, std::numeric_limits<int64_t>::max())) {
        too_large(key, text);
      }
      unexpected(key, text, "a whole number of at least 0");
    }
    return *number;
  }

  FineTime time(std::string_view key, json::value value) const {
    const std::string_view text = token(value);
    const std::optional<FineTime> time = parse_time(text, kMicroseconds);
    if (!time) {
      if (is_number(text)) {
        too_large(key, text);
      }
      unexpected(key, text, "a time in microseconds");
    }
    return *time;
  }

  /// -1 and null: not known.
  int32_t label(std::string_view key, json::value value) const {
    const std::string_view text = token(value);
    if (text == "null") {
      return -1;
    }
    const std::optional<int64_t> number = parse_whole(text);
    if (!number || *number < -1 || *number > kLargest) {
      if (is_too_large(text, kLargest)) {
        too_large(key, text);
      }
      unexpected(key, text, "a whole number of at least -1");
    }
    return static_cast<int32_t>(*number);
  }

  template <typename T>
  T needed(const std::optional<T>& field, const char* name) const {
    if (!field) {
      fail(PRISM_STATUS_INVALID_ARGUMENT, std::string("has no '") + name + "'");
    }
    return *field;
  }

  void name_thread(const Fields& fields) {
    const Thread thread{needed(fields.pid, "pid"), needed(fields.tid, "tid")};
    std::optional<ThreadName> name = parse_thread(fields.thread);
    if (!name) {
      unexpected("the thread's name", "'" + std::string(fields.thread) + "'",
                 "one as 'PP rank 0, TP rank 0, compute'");
    }
    threads_[thread] = std::move(*name);
  }

  void add_slice(const Fields& fields) {
    Event event;
    event.place = place_;
    event.step = needed(fields.step, "args.step");
    event.operation = trace_.operation(fields.name, place_);
    event.start = needed(fields.start, "ts");
    const FineTime duration = needed(fields.duration, "dur");
    if (duration < FineTime{}) {
      fail(PRISM_STATUS_INVALID_ARGUMENT, "dur is negative; at least 0 us were expected");
    }
    event.end = event.start + duration;
    event.sequence = fields.sequence;
    event.chunk = fields.chunk;
    event.micro_batch = fields.micro_batch;
    // Names of threads may come later: the thread for now.
    const Thread thread{needed(fields.pid, "pid"), needed(fields.tid, "tid")};
    const auto [used, fresh] = used_.insert({thread, {}});
    if (fresh) {
      used->second.index = static_cast<uint32_t>(used_.size() - 1);
      used->second.place = place_;
    }
    event.worker = used->second.index;
    trace_.add(event);
  }

  /// Threads to ranks, for the events too.
  void name_workers() {
    std::set<std::string> work;
    for (const auto& [thread, name] : threads_) {
      work.insert(name.work);
    }
    std::vector<uint32_t> worker_of(used_.size());
    std::map<int64_t, uint32_t> workers;
    for (const auto& [thread, use] : used_) {
      place_ = use.place;
      const auto name = threads_.find(thread);
      if (name == threads_.end()) {
        fail(PRISM_STATUS_INVALID_ARGUMENT,
             "its thread has no name; one as 'PP rank 0, TP rank 0, compute' was expected");
      }
      Worker worker;
      worker.number = thread.second / static_cast<int64_t>(work.size());
      worker.stage = static_cast<int32_t>(name->second.stage);
      worker.data = static_cast<int32_t>(std::min(thread.first, kLargest));
      const auto [known, fresh] =
          workers.insert({worker.number, static_cast<uint32_t>(trace_.workers.size())});
      if (fresh) {
        trace_.workers.push_back(worker);
      } else if (const Worker& before = trace_.workers[known->second];
                 before.stage != worker.stage || before.data != worker.data) {
        fail(PRISM_STATUS_INVALID_ARGUMENT,
             "thread " + std::to_string(thread.second) + " should be of rank " +
                 std::to_string(worker.number) + ", whose other threads are of another stage or " +
                 "process; " + std::to_string(work.size()) + " threads per rank were expected");
      }
      worker_of[use.index] = known->second;
    }
    for (Event& event : trace_.events) {
      event.worker = worker_of[event.worker];
    }
  }

  struct Use {
    uint32_t index = 0;
    uint32_t place = 0;  // of the first event
  };

  Trace trace_;
  uint32_t place_ = 0;
  std::map<Thread, ThreadName> threads_;
  std::map<Thread, Use> used_;
};

}  // namespace

Trace read_json(const std::string& path) {
  return JsonReader(path).read();
}

}  // namespace prism::microbatch
