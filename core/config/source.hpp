// SPDX-License-Identifier: Apache-2.0
/// The text of a file that a user wrote, and how to point into it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/value.hpp"

namespace prism::config {

/// Files above this size are refused.
inline constexpr uint64_t kMaxFileBytes = uint64_t{16} << 20;

/// Immutable. Any thread.
class Source {
 public:
  /// `name` is printed in messages; `text` is UTF-8, a byte order mark at its start is dropped.
  Source(std::string name, std::string text);

  const std::string& name() const { return name_; }
  std::string_view text() const { return text_; }
  /// Line `number` (from 1) without its line end; empty where there is none.
  std::string_view line(uint32_t number) const;
  /// The text of a span; empty when it is not inside the file.
  std::string_view slice(const Span& span) const;
  /// The place of a byte of the text.
  Position position(size_t offset) const;
  /// Where bytes [begin, end) of `string`'s content are written; all of it when its spelling has
  /// escapes or several lines.
  Span inside(const Value& string, size_t begin, size_t end) const;
  /// Two lines: the source line and a caret with underline, both with a gutter. Long lines are
  /// cropped around the caret, control characters replaced. Empty for a span without place.
  std::string excerpt(const Span& span) const;

 private:
  size_t offset(const Position& position) const;

  std::string name_;
  std::string text_;
  std::vector<uint32_t> line_starts_;
};

}  // namespace prism::config
