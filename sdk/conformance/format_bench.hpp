// SPDX-License-Identifier: Apache-2.0
/// A format with an open session, and calls that hold it to the rules for errors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "prism/abi/draft/format.h"
#include "sdk/conformance/format_calls.hpp"
#include "sdk/conformance/library.hpp"
#include "sdk/conformance/told_trace.hpp"

namespace prism::conformance {

/// How a call failed.
struct Refusal {
  prism_status_t status = PRISM_STATUS_OK;
  std::string words;
};

/// The last part of a path.
std::string file_name(const std::string& path);

/// Fails the test when the words do not name the file `path`. `what` failed.
void require_names(const Refusal& refusal, const std::string& path, const std::string& what);

class FormatBench {
 public:
  explicit FormatBench(Context& context);

  Context& context() { return context_; }
  const prism_format_t& table() const { return table_; }
  bool imports() const { return table_.import_trace != nullptr; }
  bool exports() const { return table_.export_trace != nullptr; }
  /// Skips the test where the format lacks that half.
  void need_imports() const;
  void need_exports() const;

  /// recognises(), which answers 0 or 1.
  bool recognises(const std::string& path, const std::string& what);
  /// Nothing: it succeeded.
  std::optional<Refusal> import_files(const std::vector<std::string>& files, const ToldTrace& told,
                                      const std::string& what);
  std::optional<Refusal> export_to(const std::string& path, const Timeline& timeline,
                                   const std::string& what);

  /// Of an export in `folder`: the files to import.
  std::vector<std::string> own_files(const TestFolder& folder) const;
  /// Files of one trace in `folder`: the user's sample, else an own export. Skips the test when
  /// there is neither.
  std::vector<std::string> good_files(const TestFolder& folder);

 private:
  Context& context_;
  Bench bench_;
  const prism_format_t& table_;
  Session session_;
};

}  // namespace prism::conformance
