// SPDX-License-Identifier: Apache-2.0
/// What `prism plugin check` says: lines, one JSON document, JUnit's XML.
#pragma once

#include <string>
#include <vector>

#include "core/cli/plugin_check_subject.hpp"
#include "sdk/conformance/runner.hpp"

namespace prism::cli {

/// What was checked, and how to do a part of it again.
struct CheckedPlugin {
  std::string id;
  std::string word;  ///< as the user named it
  CheckFiles files;  ///< likewise
  uint64_t seed = 1;

  /// "prism plugin check PATH --only S3.init_twice --seed 7"
  std::string repro(const std::string& test) const;
};

/// One line per test, for a failure two.
std::string as_line(const CheckedPlugin& plugin, const conformance::TestResult& result);
/// What was skipped though the user could have given what it needs, and why; empty: nothing.
std::string not_checked(const std::vector<conformance::TestResult>& results);
/// "41 tests: 40 pass, 1 skip"
std::string summary_line(const std::vector<conformance::TestResult>& results);
std::string as_json(const CheckedPlugin& plugin,
                    const std::vector<conformance::TestResult>& results);
std::string as_junit(const CheckedPlugin& plugin,
                     const std::vector<conformance::TestResult>& results);

}  // namespace prism::cli
