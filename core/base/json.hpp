// SPDX-License-Identifier: Apache-2.0
/// Writes JSON text (RFC 8259) piece by piece, indented by two spaces or on one line.
///
///   std::string text;
///   JsonWriter json(text);
///   json.begin_object();
///   json.member("seed", 1);
///   json.key("ranks").begin_array();
///   json.value(0).value(8);
///   json.end_array();
///   json.end_object();
///
/// Pieces out of order (a value without its key, an end that does not match) are bugs and abort.
/// Not thread-safe.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"

namespace prism {

class JsonWriter {
 public:
  /// Appends to `out`, which must outlive the writer.
  enum class Layout : uint8_t { Indented, OneLine };

  explicit JsonWriter(std::string& out, Layout layout = Layout::Indented)
      : out_(out), layout_(layout) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('{', '}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close('[', ']'); }

  /// Names the value that is written next; only inside an object.
  JsonWriter& key(std::string_view name) {
    PRISM_ASSERT(!levels_.empty() && levels_.back().bracket == '{' && !has_key_);
    next_line();
    quote(name);
    out_ += ": ";
    has_key_ = true;
    return *this;
  }

  /// Bytes that are no UTF-8 become U+FFFD, each.
  JsonWriter& value(std::string_view text) {
    before_value();
    quote(text);
    return *this;
  }
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(bool truth) { return raw(truth ? "true" : "false"); }
  /// The shortest digits that give the same double; null for infinities and NaN, which JSON lacks.
  JsonWriter& value(double number) { return std::isfinite(number) ? digits(number) : null(); }
  template <std::integral T>
  JsonWriter& value(T number) {
    return digits(number);
  }
  JsonWriter& null() { return raw("null"); }
  /// A number as it is written in JSON, for figures that a double would round.
  JsonWriter& number(std::string_view digits) { return raw(digits); }

  template <typename T>
  JsonWriter& member(std::string_view name, const T& content) {
    return key(name).value(content);
  }

  /// Whether one whole value has been written.
  bool complete() const { return levels_.empty() && started_; }

 private:
  struct Level {
    char bracket;
    bool empty = true;
  };

  JsonWriter& open(char bracket) {
    before_value();
    out_ += bracket;
    levels_.push_back({bracket});
    return *this;
  }
  JsonWriter& close(char begin, char end) {
    PRISM_ASSERT(!levels_.empty() && levels_.back().bracket == begin && !has_key_);
    const bool empty = levels_.back().empty;
    levels_.pop_back();
    if (!empty) {
      indent();
    }
    out_ += end;
    return *this;
  }
  void before_value() {
    if (levels_.empty()) {
      PRISM_ASSERT(!started_);
      started_ = true;
    } else if (levels_.back().bracket == '{') {
      PRISM_ASSERT(has_key_);
      has_key_ = false;
    } else {
      next_line();
    }
  }
  void next_line() {
    if (!levels_.back().empty) {
      out_ += layout_ == Layout::OneLine ? ", " : ",";
    }
    levels_.back().empty = false;
    indent();
  }
  void indent() {
    if (layout_ == Layout::OneLine) {
      return;
    }
    out_ += '\n';
    out_.append(levels_.size() * 2, ' ');
  }
  JsonWriter& raw(std::string_view text) {
    before_value();
    out_ += text;
    return *this;
  }
  JsonWriter& digits(auto number) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof(text), number).ptr;
    return raw({text, static_cast<size_t>(end - text)});
  }

  void quote(std::string_view text) {
    out_ += '"';
    while (!text.empty()) {
      const size_t length = character_length(text);
      if (length == 0) {
        out_ += "\xef\xbf\xbd";
      } else if (length > 1) {
        out_ += text.substr(0, length);
      } else {
        escape(text.front());
      }
      text.remove_prefix(length == 0 ? 1 : length);
    }
    out_ += '"';
  }
  void escape(char c) {
    switch (c) {
      case '"':
        out_ += "\\\"";
        break;
      case '\\':
        out_ += "\\\\";
        break;
      case '\n':
        out_ += "\\n";
        break;
      case '\t':
        out_ += "\\t";
        break;
      case '\r':
        out_ += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          out_ += "\\u00";
          out_ += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
          out_ += "0123456789abcdef"[static_cast<unsigned char>(c) & 0xf];
        } else {
          out_ += c;
        }
    }
  }
  /// Bytes of the UTF-8 character that `text` begins with; 0 when it is none (RFC 3629: neither
  /// overlong, nor a surrogate, nor beyond U+10FFFF).
  static size_t character_length(std::string_view text) {
    const auto byte = [&](size_t i) {
      return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const auto continues = [&](size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
    const unsigned first = byte(0);
    if (first < 0x80) {
      return 1;
    }
    if (first >= 0xc2 && first <= 0xdf) {
      return continues(1) ? 2 : 0;
    }
    if (first >= 0xe0 && first <= 0xef) {
      const bool range = !(first == 0xe0 && byte(1) < 0xa0) && !(first == 0xed && byte(1) > 0x9f);
      return range && continues(1) && continues(2) ? 3 : 0;
    }
    if (first >= 0xf0 && first <= 0xf4) {
      const bool range = !(first == 0xf0 && byte(1) < 0x90) && !(first == 0xf4 && byte(1) > 0x8f);
      return range && continues(1) && continues(2) && continues(3) ? 4 : 0;
    }
    return 0;
  }

  std::string& out_;
  Layout layout_;
  std::vector<Level> levels_;
  bool has_key_ = false;
  bool started_ = false;
};

}  // namespace prism
