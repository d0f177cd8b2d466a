// SPDX-License-Identifier: Apache-2.0
/// The file that an exporter writes, piece by piece.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace prism::formats {

class OutputFile {
 public:
  /// Throws Error that names the file.
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws Error that names the file, RESOURCE_EXHAUSTED when the disk is full.
  void write(std::string_view text);
  /// To be called at the end: only then is everything known to be written. Throws as write().
  void close();

 private:
  [[noreturn]] void fail(const char* what) const;

  std::string path_;
  std::FILE* file_;
};

}  // namespace prism::formats
