// SPDX-License-Identifier: Apache-2.0
/// A file, plain or gzipped, read from its beginning, behind a byte order mark of UTF-8.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

struct gzFile_s;

namespace prism::microbatch {

class InputFile {
 public:
  /// Throws NOT_FOUND for a file that cannot be opened.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// How much of `buffer` was filled; less than all of it: the file is at its end. Throws DATA_LOSS
  /// for a gzip file that is cut or damaged.
  size_t read(std::span<char> buffer);
  /// The next line without its end; false: there is none. At most 64 KiB.
  bool line(std::string_view& line);
  /// The number of the line that was read last, from 1.
  uint64_t line_number() const { return line_number_; }

  const std::string& path() const { return path_; }

 private:
  size_t fill(std::span<char> buffer);

  std::string path_;
  gzFile_s* file_ = nullptr;
  bool begun_ = false;
  std::string text_;  // read, not yet told from `begin_` on
  size_t begin_ = 0;
  bool at_end_ = false;
  uint64_t line_number_ = 0;
};

}  // namespace prism::microbatch
