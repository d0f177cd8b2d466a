// SPDX-License-Identifier: Apache-2.0
/// The CSV form: one operation a line, times in seconds from the beginning of its step, a
/// communication from when its own rank arrived.
#include <array>
#include <limits>
#include <optional>
#include <unordered_map>

#include "csv_row.hpp"
#include "input_file.hpp"
#include "trace.hpp"

#include "prism/sdk/error.hpp"

namespace prism::microbatch {
namespace {

enum Column { Data, Stage, Rank, Step, Operation, Start, Duration, Sequence, Chunk, MicroBatch };
constexpr std::array kColumns{"dp_rank",  "stage",    "rank",   "step", "optype",
                              "start_ts", "duration", "seq_id", "mc",   "mb_id"};
constexpr const char* kGlobalChunk = "gmc";  // the only one that may be missing

constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();

class CsvReader {
 public:
  explicit CsvReader(const std::string& path) : file_(path) { trace_.path = path; }

  Trace read() {
    read_header();
    std::string_view line;
    while (file_.line(line)) {
      if (line.empty()) {
        continue;
      }
      if (!split_row(line, fields_) || fields_.size() != columns_) {
        fail(PRISM_STATUS_DATA_LOSS, std::to_string(fields_.size()) + " columns; " +
                                         std::to_string(columns_) +
                                         " were expected as in the first line; is the file cut?");
      }
      add_row();
    }
    trace_.finish();
    return std::move(trace_);
  }

 private:
  [[noreturn]] void fail(prism_status_t code, const std::string& what) const {
    throw sdk::Error(code, trace_.where(static_cast<uint32_t>(file_.line_number())) + ": " + what);
  }

  void read_header() {
    std::string_view line;
    if (!file_.line(line) || !split_row(line, fields_)) {
      throw sdk::Error(
          PRISM_STATUS_DATA_LOSS,
          trace_.path + ": is empty; a line with the names of the columns was expected");
    }
    columns_ = fields_.size();
    for (size_t c = 0; c < kColumns.size(); ++c) {
      const std::optional<size_t> at = find(kColumns[c]);
      if (!at) {
        fail(PRISM_STATUS_INVALID_ARGUMENT,
             "column '" + std::string(kColumns[c]) + "' is missing; the first line must name it");
      }
      at_[c] = *at;
    }
    at_global_chunk_ = find(kGlobalChunk);
  }

  std::optional<size_t> find(std::string_view name) const {
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (fields_[i] == name) {
        return i;
      }
    }
    return std::nullopt;
  }

  void add_row() {
    Event event;
    event.place = static_cast<uint32_t>(file_.line_number());
    event.worker = worker();
    event.step = whole(Step, 0, std::numeric_limits<int64_t>::max());
    event.operation = trace_.operation(fields_[at_[Operation]], event.place);
    event.start = time(Start);
    const FineTime duration = time(Duration);
    if (duration < FineTime{}) {
      unexpected(Duration, "a duration of at least 0 s");
    }
    event.end = event.start + duration;
    event.sequence = label(at_[Sequence], kColumns[Sequence]);
    event.chunk = label(at_[Chunk], kColumns[Chunk]);
    event.micro_batch = label(at_[MicroBatch], kColumns[MicroBatch]);
    if (at_global_chunk_) {
      event.global_chunk = label(*at_global_chunk_, kGlobalChunk);
    }
    trace_.add(event);
  }

  uint32_t worker() {
    Worker worker;
    worker.number = whole(Rank, 0, kLargest);
    worker.stage = static_cast<int32_t>(whole(Stage, 0, kLargest));
    worker.data = static_cast<int32_t>(whole(Data, 0, kLargest));
    const auto [known, fresh] =
        workers_.insert({worker.number, static_cast<uint32_t>(trace_.workers.size())});
    if (fresh) {
      trace_.workers.push_back(worker);
    } else if (const Worker& before = trace_.workers[known->second];
               before.stage != worker.stage || before.data != worker.data) {
      fail(PRISM_STATUS_INVALID_ARGUMENT,
           "rank " + std::to_string(worker.number) + " is of stage " +
               std::to_string(worker.stage) + " and dp_rank " + std::to_string(worker.data) +
               ", but was of stage " + std::to_string(before.stage) + " and dp_rank " +
               std::to_string(before.data) + " before");
    }
    return known->second;
  }

  int64_t whole(Column column, int64_t least, int64_t most) const {
    const std::optional<int64_t> number = parse_whole(fields_[at_[column]]);
    if (!number || *number < least || *number > most) {
      check_size(at_[column], kColumns[column], most);
      unexpected(column, "a whole number of at least " + std::to_string(least));
    }
    return *number;
  }

  FineTime time(Column column) const {
    const std::optional<FineTime> time = parse_time(fields_[at_[column]], kSeconds);
    if (!time) {
      if (is_number(fields_[at_[column]])) {
        too_large(at_[column], kColumns[column]);
      }
      unexpected(column, "a time in seconds");
    }
    return *time;
  }

  /// -1 and nothing: not known.
  int32_t label(size_t at, const char* name) const {
    if (fields_[at].empty()) {
      return -1;
    }
    const std::optional<int64_t> number = parse_whole(fields_[at]);
    if (!number || *number < -1 || *number > kLargest) {
      check_size(at, name, kLargest);
      unexpected(at, name, "a whole number of at least -1");
    }
    return static_cast<int32_t>(*number);
  }

  /// Refuses whole numbers that are larger than `most`.
  void check_size(size_t at, const char* name, int64_t most) const {
    if (is_too_large(fields_[at], most)) {
      too_large(at, name);
    }
  }
  [[noreturn]] void too_large(size_t at, const char* name) const {
    fail(PRISM_STATUS_INVALID_ARGUMENT,
         std::string(name) + " is '" + shown(fields_[at]) + "', which is too large");
  }
  [[noreturn]] void unexpected(Column column, const std::string& expected) const {
    unexpected(at_[column], kColumns[column], expected);
  }
  [[noreturn]] void unexpected(size_t at, const std::string& name,
                               const std::string& expected) const {
    fail(PRISM_STATUS_INVALID_ARGUMENT,
         name + " is '" + shown(fields_[at]) + "'; " + expected + " was expected");
  }

  InputFile file_;
  Trace trace_;
  std::vector<std::string> fields_;
  size_t columns_ = 0;
  std::array<size_t, kColumns.size()> at_{};
  std::optional<size_t> at_global_chunk_;
  std::unordered_map<int64_t, uint32_t> workers_;
};

}  // namespace

Trace read_csv(const std::string& path) {
  return CsvReader(path).read();
}

}  // namespace prism::microbatch
