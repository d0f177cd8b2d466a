// SPDX-License-Identifier: Apache-2.0
/// Traces for the tests, written event by event, and what the importer makes of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "plugins/formats/kineto/import.hpp"
#include "prism/sdk/testing/trace_record.hpp"

namespace prism::kineto::testing {

using Record = sdk::testing::TraceRecord;
using Rank = Record::Rank;
using Node = Record::Node;

/// A file of the folder inputs.
std::string input_path(const std::string& name);

/// A file of the test, removed at its end.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content, const std::string& name = "trace.json") {
    static int count = 0;
    folder_ = std::filesystem::temp_directory_path() /
              ("kineto_test_" + std::to_string(::getpid()) + "_" + std::to_string(++count));
    std::filesystem::create_directory(folder_);
    path_ = (folder_ / name).string();
    std::ofstream(path_, std::ios::binary) << content;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove_all(folder_); }
  const std::string& path() const { return path_; }

 private:
  std::filesystem::path folder_;
  std::string path_;
};

/// Times in us as text, so that they are what the test says.
class TraceText {
 public:
  explicit TraceText(std::string info = R"("rank": 0, "world_size": 2)") : info_(std::move(info)) {}

  TraceText& event(const std::string& category, const std::string& name, int64_t thread,
                   const std::string& ts, const std::string& dur, const std::string& args = "") {
    return raw(R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" + name +
               R"(", "pid": 1, "tid": )" + std::to_string(thread) + ", \"ts\": " + ts +
               ", \"dur\": " + dur + ", \"args\": {" + args + "}}");
  }
  TraceText& call(const std::string& name, int64_t thread, int64_t ts, int64_t dur,
                  int64_t correlation) {
    return event("cuda_runtime", name, thread, std::to_string(ts), std::to_string(dur),
                 "\"correlation\": " + std::to_string(correlation));
  }
  TraceText& device(const std::string& category, const std::string& name, int64_t stream,
                    int64_t ts, int64_t dur, int64_t correlation, const std::string& args = "") {
    return event(category, name, stream, std::to_string(ts), std::to_string(dur),
                 "\"device\": 0, \"stream\": " + std::to_string(stream) + ", \"correlation\": " +
                     std::to_string(correlation) + (args.empty() ? "" : ", " + args));
  }
  TraceText& kernel(int64_t stream, int64_t ts, int64_t dur, int64_t correlation,
                    const std::string& name = "gemm", const std::string& args = "") {
    return device("kernel", name, stream, ts, dur, correlation, args);
  }
  TraceText& raw(const std::string& event) {
    events_ += (events_.empty() ? "" : ",\n") + event;
    return *this;
  }
  std::string text() const {
    return R"({"schemaVersion": 1, "distributedInfo": {)" + info_ + "}, \"traceEvents\": [\n" +
           events_ + "\n]}\n";
  }

 private:
  std::string info_;
  std::string events_;
};

inline void import_into(Record& record, const std::vector<sdk::TraceInput>& inputs,
                        Clock clock = Clock::Auto) {
  sdk::TraceSink sink(record.c());
  import_traces(inputs, clock, sink);
}

/// The importer's complaint; empty: none.
inline std::string error_of(const std::vector<sdk::TraceInput>& inputs) {
  Record record;
  try {
    import_into(record, inputs);
  } catch (const sdk::Error& error) {
    return error.what();
  }
  return {};
}

/// One trace, imported.
class Imported {
 public:
  explicit Imported(const TraceText& trace) {
    const TemporaryFile file(trace.text());
    import_into(record_, {{file.path(), std::nullopt}});
  }
  const Rank& rank() const { return record_.ranks.at(0); }
  const std::vector<std::string>& notes() const { return record_.notes; }

  const Node& node(std::string_view name, int nth = 0) const {
    for (const Node& node : rank().nodes) {
      if (node.name == name && nth-- == 0) {
        return node;
      }
    }
    throw std::out_of_range("no node '" + std::string(name) + "'");
  }
  /// Whether `node` depends on `on`, itself.
  bool depends(const Node& node, const Node& on) const {
    for (const uint32_t dependency : node.dependencies) {
      if (&rank().nodes[dependency] == &on) {
        return true;
      }
    }
    return false;
  }
  std::string lane(const Node& node) const { return rank().lanes[node.c.lane].name; }

 private:
  Record record_;
};

}  // namespace prism::kineto::testing
