// SPDX-License-Identifier: Apache-2.0
#include "core/config/source.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "prism/host/text.hpp"

namespace prism::config {
namespace {

constexpr size_t kExcerptColumns = 160;
constexpr size_t kColumnsBeforeCaret = 60;

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

}  // namespace

Source::Source(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)) {
  if (text_.starts_with("\xef\xbb\xbf")) {
    text_.erase(0, 3);
  }
  line_starts_.push_back(0);
  for (size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') {
      line_starts_.push_back(static_cast<uint32_t>(i + 1));
    }
  }
}

std::string_view Source::line(uint32_t number) const {
  if (number == 0 || number > line_starts_.size()) {
    return {};
  }
  size_t begin = line_starts_[number - 1];
  size_t end = number < line_starts_.size() ? line_starts_[number] - 1 : text_.size();
  std::string_view line = std::string_view(text_).substr(begin, end - begin);
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  return line;
}

size_t Source::offset(const Position& position) const {
  if (position.line == 0 || position.line > line_starts_.size()) {
    return text_.size();
  }
  size_t i = line_starts_[position.line - 1];
  for (uint32_t column = 1; column < position.column && i < text_.size(); ++column) {
    do {
      ++i;
    } while (i < text_.size() && continues(text_[i]));
  }
  return i;
}

std::string_view Source::slice(const Span& span) const {
  if (span.begin.line == 0 || span.end <= span.begin) {
    return {};
  }
  size_t begin = offset(span.begin);
  size_t end = offset(span.end);
  return begin < end ? std::string_view(text_).substr(begin, end - begin) : std::string_view();
}

Position Source::position(size_t offset) const {
  auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  auto line = static_cast<uint32_t>(next - line_starts_.begin());
  uint32_t column = 1;
  for (size_t i = line_starts_[line - 1]; i < offset && i < text_.size(); ++i) {
    column += continues(text_[i]) ? 0 : 1;
  }
  return {line, column};
}

Span Source::inside(const Value& string, size_t begin, size_t end) const {
  const std::string* content = string.string();
  if (content == nullptr || string.origin != Origin::File) {
    return string.span;
  }
  std::string_view written = slice(string.span);
  if (written.size() != content->size() + 2 || written.substr(1, content->size()) != *content) {
    return string.span;
  }
  size_t start = offset(string.span.begin) + 1;
  return {position(start + std::min(begin, content->size())),
          position(start + std::min(end, content->size()))};
}

std::string Source::excerpt(const Span& span) const {
  if (span.begin.line == 0) {
    return {};
  }
  std::string_view line = this->line(span.begin.line);
  auto next = [&](size_t i) { return i + std::max<size_t>(host::utf8_length(line.substr(i)), 1); };
  size_t columns = 0;
  for (size_t i = 0; i < line.size(); i = next(i)) {
    ++columns;
  }
  size_t caret = std::max(span.begin.column, 1u) - 1;
  size_t end = span.end.line > span.begin.line    ? columns
               : span.end.line == span.begin.line ? span.end.column - 1
                                                  : caret + 1;
  size_t from = 0;
  size_t to = columns;
  if (columns > kExcerptColumns) {
    from = caret > kColumnsBeforeCaret ? caret - kColumnsBeforeCaret : 0;
    to = std::min(columns, from + kExcerptColumns);
  }
  std::string number = std::to_string(span.begin.line);
  std::string text = " " + number + " | " + (from > 0 ? "..." : "");
  std::string marks =
      std::string(number.size() + 1, ' ') + " | " + std::string(from > 0 ? 3 : 0, ' ');
  size_t column = 0;
  for (size_t i = 0; i < line.size() && column < to; i = next(i), ++column) {
    if (column < from) {
      continue;
    }
    bool tab = line[i] == '\t';
    text += tab ? "\t" : printable(line.substr(i, next(i) - i));
    if (column < caret) {
      marks += tab ? '\t' : ' ';
    }
  }
  text += to < columns ? "..." : "";
  if (caret > to) {
    marks += std::string(caret - to, ' ');
  }
  marks += '^';
  size_t last = std::min(end, std::max(to, caret + 1));
  if (last > caret + 1) {
    marks += std::string(last - caret - 1, '~');
  }
  return text + "\n" + marks + "\n";
}

}  // namespace prism::config
