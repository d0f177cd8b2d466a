// SPDX-License-Identifier: Apache-2.0
/// Cuts a trace into its events, through a window of limited size: an object with "traceEvents", or
/// the array alone. Brackets and strings are followed; what is between them is the parser's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/formats/kineto/source.hpp"

namespace prism::kineto {

/// What is wrong with the file, and where: byte of the decompressed file.
class Malformed : public std::exception {
 public:
  Malformed(uint64_t at, bool cut, std::string what) : at_(at), cut_(cut), what_(std::move(what)) {}
  uint64_t at() const { return at_; }
  bool cut() const { return cut_; }  ///< the file ends too early
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  uint64_t at_;
  bool cut_;
  std::string what_;
};

class Scanner {
 public:
  static constexpr size_t kLargest = 4 << 20;  ///< bytes of an event
  static constexpr size_t kPadding = 64;       ///< that may be read behind an item
  static constexpr uint32_t kDeepest = 512;

  explicit Scanner(Source& source);

  struct Item {
    std::string_view key;   ///< empty: an event; else a member of the trace of this name
    std::string_view text;  ///< until the next call; kPadding bytes behind it can be read
    uint64_t at = 0;
  };
  /// False: the trace has ended well. Throws Malformed.
  bool next(Item& item);

  /// NaN, Infinity, N/A outside strings, in events so far.
  uint64_t foreign_words() const { return foreign_words_; }

 private:
  enum class State { Begin, Members, Events, End };

  [[noreturn]] void fail(size_t at, const std::string& what) const;
  [[noreturn]] void fail_cut() const;
  bool more(size_t keep_from);  ///< reads on; false: the file is at its end. Moves keep_from to 0
  char peek();                  ///< next byte that is no white space; 0: the end
  void expect(char c, const std::string& what);
  bool next_member(Item& item);
  bool next_event(Item& item);
  std::string take_key();
  std::string_view take_value();
  void skip_value();
  size_t find_end(bool keep);
  void count_words(uint64_t candidates, size_t block);
  void skip_string();
  size_t scalar_end();

  Source& source_;
  std::vector<char> window_;
  size_t pos_ = 0;
  size_t end_ = 0;
  uint64_t base_ = 0;  ///< byte of the file at window_[0]
  bool at_end_ = false;
  bool bare_array_ = false;
  State state_ = State::Begin;
  std::string key_;
  uint64_t foreign_words_ = 0;
};

}  // namespace prism::kineto
