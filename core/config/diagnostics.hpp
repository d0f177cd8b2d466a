// SPDX-License-Identifier: Apache-2.0
/// Collects everything that is wrong with an experiment file and renders it:
///
///   exp.toml:5:5: error: unknown key 'sandbxo' in [parallel]; did you mean 'sandbox'?
///    5 |     sandbxo = [0, 1, 2, 3]
///      |     ^~~~~~~
///
/// Memory stays bounded whatever the file holds: only the first kMaxShown errors by position are
/// kept, the others are counted.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/base/status.hpp"
#include "core/config/codes.hpp"
#include "core/config/source.hpp"
#include "core/config/value.hpp"

namespace prism::config {

/// A second place that belongs to an error.
struct Note {
  Span span;
  std::string message;
  Origin origin = Origin::File;
};

struct Diagnostic {
  ErrorCode code = ErrorCode::File;
  Span span;  ///< line 0: the file as a whole
  std::string message;
  std::string hint;  ///< what to do; empty where there is nothing to add
  std::vector<Note> notes;
  Origin origin = Origin::File;
};

class Diagnostics {
 public:
  static constexpr size_t kMaxShown = 20;

  /// Of a file without a text, e.g. one that cannot be opened.
  explicit Diagnostics(std::string file_name);
  explicit Diagnostics(std::shared_ptr<const Source> source) : source_(std::move(source)) {}

  void add(Diagnostic diagnostic);
  /// Whether an error at this place would be among those shown: worth working out a hint.
  bool wants(const Position& position) const;
  /// Source::inside for an error that will be added; only the value's own span where it would not
  /// be shown, since finding places in a long line takes time.
  Span inside(const Value& string, size_t begin, size_t end) const;
  /// How a value is written, with the same restriction; empty for one that is not in the file.
  std::string_view written(const Value& value) const;

  bool empty() const { return total_ == 0; }
  size_t total() const { return total_; }
  /// Sorted by position, at most kMaxShown.
  const std::vector<Diagnostic>& shown() const { return shown_; }
  const Source& source() const { return *source_; }

  /// For a terminal, with a line end after the last line; empty when there is no error.
  std::string text() const;
  /// {"total": N, "diagnostics": [{file, line, column, end, code, message, hint, notes}]}, one
  /// line. line and column are null where an error has no place.
  std::string json() const;
  /// Ok when empty, else a configuration error (exit code 2) whose message is text().
  Status status() const;

 private:
  std::string location(const Span& span, Origin origin) const;

  std::shared_ptr<const Source> source_;
  std::vector<Diagnostic> shown_;
  size_t total_ = 0;
};

}  // namespace prism::config
