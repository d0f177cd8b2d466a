// SPDX-License-Identifier: Apache-2.0
/// A file of messages, each after its length. Only what the file has is allocated, whatever its
/// lengths say.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "prism/abi/error.h"

namespace prism::chakra {

class MessageFile {
 public:
  /// Throws NOT_FOUND for a file that cannot be opened, INVALID_ARGUMENT for one that is none.
  explicit MessageFile(const std::string& path);

  /// The next message, valid until the next call; false at the end. Throws DATA_LOSS for a file
  /// that is cut or damaged.
  bool next(std::string_view& message);
  /// Of the message that was read last, from 1.
  uint64_t number() const { return number_; }

  const std::string& path() const { return path_; }
  /// "FILE: message 3 (byte 57)"
  std::string place() const;
  [[noreturn]] void fail(prism_status_t code, const std::string& what) const;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  uint64_t take_length();
  void check_length(uint64_t length) const;
  void fill(size_t size);

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  uint64_t left_ = 0;   ///< of the file, not yet in the buffer
  std::string buffer_;  ///< read; used up to begin_
  size_t begin_ = 0;
  uint64_t number_ = 0;
  uint64_t at_ = 0;  ///< byte of the file at which the message begins with its length
  uint64_t next_at_ = 0;
};

}  // namespace prism::chakra
