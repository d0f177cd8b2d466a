// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/kineto/scanner.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>

#include "plugins/formats/kineto/block.hpp"

namespace prism::kineto {
namespace {

constexpr size_t kPiece = 256 * 1024;  // stays in a core's cache between reading and parsing
constexpr size_t kLongestKey = 4096;

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

bool wanted(std::string_view key) {
  return key == "distributedInfo" || key == "baseTimeNanoseconds";
}

}  // namespace

Scanner::Scanner(Source& source) : source_(source), window_(2 * kPiece + kPadding) {}

void Scanner::fail(size_t at, const std::string& what) const {
  throw Malformed(base_ + at, false, what);
}

void Scanner::fail_cut() const {
  throw Malformed(base_ + end_, true, "the file ends in the middle of the trace");
}

bool Scanner::more(size_t keep_from) {
  if (at_end_) {
    return false;
  }
  if (keep_from > 0) {
    std::memmove(window_.data(), window_.data() + keep_from, end_ - keep_from);
    base_ += keep_from;
    end_ -= keep_from;
    pos_ -= std::min(pos_, keep_from);
  }
  size_t room = window_.size() - kPadding - end_;
  if (room < kPiece) {  // for an event larger than most; find_end() ends this
    window_.resize(std::min(2 * window_.size(), kLargest + 2 * kPiece + kPadding));
    room = window_.size() - kPadding - end_;
  }
  const size_t got = source_.read(window_.data() + end_, std::min(room, kPiece));
  at_end_ = got == 0;
  end_ += got;
  std::memset(window_.data() + end_, 0, kPadding);
  return !at_end_;
}

char Scanner::peek() {
  while (true) {
    while (pos_ < end_ && is_space(window_[pos_])) {
      ++pos_;
    }
    if (pos_ < end_) {
      return window_[pos_];
    }
    if (!more(pos_)) {
      return '\0';
    }
  }
}

void Scanner::expect(char c, const std::string& what) {
  const char found = peek();
  if (pos_ == end_) {
    fail_cut();
  }
  if (found != c) {
    fail(pos_, "expected " + what);
  }
  ++pos_;
}

bool Scanner::next(Item& item) {
  if (state_ == State::Begin) {
    if (peek() == '\xef' && end_ - pos_ >= 3 &&
        std::memcmp(&window_[pos_], "\xef\xbb\xbf", 3) == 0) {
      pos_ += 3;
    }
    const char c = peek();
    if (pos_ == end_) {
      throw Malformed(base_ + end_, true, "the file is empty");
    }
    if (c != '{' && c != '[') {
      fail(pos_, "expected a trace, a JSON object with \"traceEvents\" or an array of events");
    }
    ++pos_;
    bare_array_ = c == '[';
    state_ = bare_array_ ? State::Events : State::Members;
  }
  while (state_ != State::End) {
    if (state_ == State::Events ? next_event(item) : next_member(item)) {
      return true;
    }
  }
  if (peek() != '\0' || pos_ != end_) {
    fail(pos_, "expected nothing behind the end of the trace");
  }
  return false;
}

bool Scanner::next_event(Item& item) {
  char c = peek();
  if (c == ',') {
    ++pos_;
    c = peek();
  }
  if (pos_ == end_) {
    fail_cut();
  }
  if (c == ']') {
    ++pos_;
    state_ = bare_array_ ? State::End : State::Members;
    return false;
  }
  if (c != '{') {
    fail(pos_, "expected an event, a JSON object");
  }
  item.key = {};
  item.text = take_value();
  item.at = base_ + static_cast<size_t>(item.text.data() - window_.data());
  return true;
}

bool Scanner::next_member(Item& item) {
  char c = peek();
  if (c == ',') {
    ++pos_;
    c = peek();
  }
  if (c == '}') {
    ++pos_;
    state_ = State::End;
    return false;
  }
  expect('"', "the name of a member of the trace");
  key_ = take_key();
  expect(':', "':' behind the name '" + key_ + "'");
  c = peek();
  if (key_ == "traceEvents" && c == '[') {
    ++pos_;
    state_ = State::Events;
    return false;
  }
  if (!wanted(key_)) {
    skip_value();
    return false;
  }
  item.text = take_value();
  item.key = key_;
  item.at = base_ + static_cast<size_t>(item.text.data() - window_.data());
  return true;
}

std::string Scanner::take_key() {
  std::string key;
  while (true) {
    if (pos_ == end_ && !more(pos_)) {
      fail_cut();
    }
    const char c = window_[pos_++];
    if (c == '"') {
      return key;
    }
    if (c == '\\' || key.size() == kLongestKey) {
      fail(pos_ - 1, "expected the name of a member of the trace, in plain letters");
    }
    key += c;
  }
}

std::string_view Scanner::take_value() {
  const char c = peek();
  if (c == '{' || c == '[') {
    const size_t end = find_end(true);
    const std::string_view text(window_.data() + pos_, end - pos_);
    pos_ = end;
    return text;
  }
  if (c == '"') {
    fail(pos_, "expected a number or an object as '" + key_ + "'");
  }
  const size_t end = scalar_end();
  const std::string_view text(window_.data() + pos_, end - pos_);
  pos_ = end;
  return text;
}

void Scanner::skip_value() {
  const char c = peek();
  if (pos_ == end_) {
    fail_cut();
  }
  if (c == '{' || c == '[') {
    pos_ = find_end(false);
  } else if (c == '"') {
    skip_string();
  } else {
    pos_ = scalar_end();
  }
}

void Scanner::skip_string() {
  bool escaped = true;  // the quote that begins it
  while (true) {
    if (pos_ == end_ && !more(pos_)) {
      fail_cut();
    }
    const char c = window_[pos_++];
    if (!escaped && c == '"') {
      return;
    }
    escaped = !escaped && c == '\\';
  }
}

size_t Scanner::scalar_end() {
  size_t at = pos_;
  while (true) {
    if (at == end_) {
      const size_t length = at - pos_;
      if (length > kLongestKey) {
        fail(pos_, "expected a value");
      }
      if (!more(pos_)) {
        fail_cut();
      }
      at = pos_ + length;
      continue;
    }
    const char c = window_[at];
    if (is_space(c) || c == ',' || c == '}' || c == ']') {
      if (at == pos_) {
        fail(at, "expected a value");
      }
      return at;
    }
    ++at;
  }
}

size_t Scanner::find_end(bool keep) {
  StringState strings;
  uint32_t depth = 0;
  size_t at = pos_;
  while (true) {
    // One more byte than the block: a word's second letter.
    while (end_ - at <= kBlock && !at_end_) {
      if (keep && end_ - pos_ > kLargest) {
        fail(pos_, "an event of more than " + std::to_string(kLargest) + " bytes begins");
      }
      const size_t keep_from = keep ? pos_ : at;
      more(keep_from);
      at -= keep_from;
    }
    if (at >= end_) {
      fail_cut();
    }
    const size_t valid = std::min(kBlock, end_ - at);
    const uint64_t mask = valid == kBlock ? ~uint64_t{0} : (uint64_t{1} << valid) - 1;
    const BlockMasks masks = classify(window_.data() + at);
    const uint64_t outside = ~strings.inside(masks) & mask;
    uint64_t structure = (masks.opens | masks.closes) & outside;
    while (structure != 0) {
      const uint64_t bit = structure & (~structure + 1);
      structure ^= bit;
      if ((masks.opens & bit) != 0) {
        if (++depth > kDeepest) {
          fail(at + static_cast<size_t>(std::countr_zero(bit)),
               "brackets are nested more than " + std::to_string(kDeepest) + " deep");
        }
      } else if (--depth == 0) {
        if (keep) {
          count_words(masks.words & outside & (bit - 1), at);
        }
        return at + static_cast<size_t>(std::countr_zero(bit)) + 1;
      }
    }
    if (keep) {
      count_words(masks.words & outside, at);
    }
    at += kBlock;
  }
}

void Scanner::count_words(uint64_t candidates, size_t block) {
  while (candidates != 0) {
    const size_t at = block + static_cast<size_t>(std::countr_zero(candidates));
    candidates &= candidates - 1;
    const bool null = window_[at] == 'n' && window_[at + 1] == 'u';
    if (!null && !is_word(window_[at - 1]) && window_[at - 1] != '/') {
      ++foreign_words_;
    }
  }
}

}  // namespace prism::kineto
