// SPDX-License-Identifier: Apache-2.0
#include "core/config/diagnostics.hpp"

#include <algorithm>
#include <array>

#include "core/base/text.hpp"

namespace prism::config {
namespace {

bool before(const Diagnostic& a, const Diagnostic& b) {
  return a.span.begin < b.span.begin;
}

/// A JSON string; what is not UTF-8 (file names may be anything) becomes '?'.
std::string json_string(std::string_view text) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string valid(text);
  for (size_t i = find_invalid_utf8(valid); i != std::string::npos; i = find_invalid_utf8(valid)) {
    valid[i] = '?';
  }
  std::string out = "\"";
  for (char c : valid) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string json_place(const Span& span) {
  if (span.begin.line == 0) {
    return R"("line": null, "column": null, "end": null)";
  }
  return "\"line\": " + std::to_string(span.begin.line) +
         ", \"column\": " + std::to_string(span.begin.column) +
         ", \"end\": {\"line\": " + std::to_string(span.end.line) +
         ", \"column\": " + std::to_string(span.end.column) + "}";
}

}  // namespace

Diagnostics::Diagnostics(std::string file_name)
    : source_(std::make_shared<const Source>(std::move(file_name), "")) {}

bool Diagnostics::wants(const Position& position) const {
  return shown_.size() < kMaxShown || position < shown_.back().span.begin;
}

Span Diagnostics::inside(const Value& string, size_t begin, size_t end) const {
  return wants(string.span.begin) ? source_->inside(string, begin, end) : string.span;
}

std::string_view Diagnostics::written(const Value& value) const {
  bool here = value.origin == Origin::File && wants(value.span.begin);
  return here ? source_->slice(value.span) : std::string_view();
}

void Diagnostics::add(Diagnostic diagnostic) {
  ++total_;
  if (!wants(diagnostic.span.begin)) {
    return;
  }
  if (diagnostic.span.end <= diagnostic.span.begin) {
    diagnostic.span.end = {diagnostic.span.begin.line, diagnostic.span.begin.column + 1};
  }
  auto place = std::upper_bound(shown_.begin(), shown_.end(), diagnostic, before);
  shown_.insert(place, std::move(diagnostic));
  if (shown_.size() > kMaxShown) {
    shown_.pop_back();
  }
}

std::string Diagnostics::location(const Span& span, Origin origin) const {
  if (origin == Origin::CommandLine) {
    return "command line: ";
  }
  std::string file = printable(source_->name(), 4096);
  if (span.begin.line == 0) {
    return file + ": ";
  }
  return file + ":" + std::to_string(span.begin.line) + ":" + std::to_string(span.begin.column) +
         ": ";
}

std::string Diagnostics::text() const {
  std::string out;
  for (const Diagnostic& d : shown_) {
    out += location(d.span, d.origin) + "error: " + d.message;
    out += (d.hint.empty() ? "" : "; " + d.hint) + "\n";
    out += source_->excerpt(d.span);
    for (const Note& note : d.notes) {
      out += location(note.span, note.origin) + "note: " + note.message + "\n";
      out += source_->excerpt(note.span);
    }
  }
  if (total_ > shown_.size()) {
    size_t more = total_ - shown_.size();
    out += "and " + std::to_string(more) + " more " + (more == 1 ? "error" : "errors") + "\n";
  }
  return out;
}

std::string Diagnostics::json() const {
  auto file = [&](Origin origin) {
    return "\"file\": " + (origin == Origin::CommandLine ? "null" : json_string(source_->name())) +
           ", ";
  };
  std::string out = "{\"total\": " + std::to_string(total_) + ", \"diagnostics\": [";
  for (size_t i = 0; i < shown_.size(); ++i) {
    const Diagnostic& d = shown_[i];
    out += i > 0 ? ", {" : "{";
    out += file(d.origin) + json_place(d.span) +
           ", \"code\": " + json_string(error_code_name(d.code)) +
           ", \"message\": " + json_string(d.message) +
           ", \"hint\": " + (d.hint.empty() ? "null" : json_string(d.hint)) + ", \"notes\": [";
    for (size_t k = 0; k < d.notes.size(); ++k) {
      const Note& note = d.notes[k];
      out += k > 0 ? ", {" : "{";
      out += file(note.origin) + json_place(note.span) +
             ", \"message\": " + json_string(note.message) + "}";
    }
    out += "]}";
  }
  return out + "]}";
}

Status Diagnostics::status() const {
  if (empty()) {
    return {};
  }
  std::string message = text();
  message.pop_back();
  return config_error(std::move(message));
}

}  // namespace prism::config
