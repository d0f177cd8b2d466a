// SPDX-License-Identifier: Apache-2.0
/// A format plugin that comes with Prism, through its real library.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include "prism/host/library.hpp"
#include "prism/host/sinks.hpp"
#include "prism/sdk/testing/trace_record.hpp"

namespace prism::formats_test {

/// Where the build has put a plugin.
host::LibraryPlace plugin_place(const std::string& id);

class FormatPlugin {
 public:
  explicit FormatPlugin(const std::string& id) : library_(plugin_place(id)) {
    check(library_.open());
    const void* table = nullptr;
    check(library_.interface(PRISM_FORMAT_1, table));
    format_ = static_cast<const prism_format_t*>(table);
    const host::ErrorSink error;
    if (format_->open(nullptr, 0, &session_, error.c()) != PRISM_STATUS_OK) {
      throw std::runtime_error(error.message(PRISM_STATUS_INTERNAL));
    }
  }
  ~FormatPlugin() { format_->close(session_); }
  FormatPlugin(const FormatPlugin&) = delete;
  FormatPlugin& operator=(const FormatPlugin&) = delete;

  bool recognises(const std::string& path) const {
    return format_->recognises(session_, sdk::to_c(path)) == 1;
  }
  prism_status_t import(const std::string& path, sdk::testing::TraceRecord& record) {
    const prism_trace_input_t input{sizeof input, PRISM_UNKNOWN_RANK, sdk::to_c(path)};
    const host::ErrorSink error;
    const prism_status_t status =
        format_->import_trace(session_, &input, 1, &record.c(), error.c());
    message_ = status == PRISM_STATUS_OK ? "" : error.message(status);
    return status;
  }
  prism_status_t export_to(const std::string& path, const prism_trace_reader_t& reader) {
    const host::ErrorSink error;
    const prism_status_t status =
        format_->export_trace(session_, &reader, sdk::to_c(path), error.c());
    message_ = status == PRISM_STATUS_OK ? "" : error.message(status);
    return status;
  }
  /// Of the last call; empty: it was fine.
  const std::string& message() const { return message_; }

 private:
  static void check(const host::Outcome& outcome) {
    if (!outcome.ok()) {
      throw std::runtime_error(outcome.text);
    }
  }

  host::Library library_;
  const prism_format_t* format_ = nullptr;
  prism_format_session_t* session_ = nullptr;
  std::string message_;
};

/// A folder that goes away with its content.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "prism-format-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error("no temporary folder");
    }
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(file(name), std::ios::binary) << content;
    return file(name);
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace prism::formats_test
