// SPDX-License-Identifier: Apache-2.0
/// Runs the tests of a plugin, several at a time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sdk/conformance/suite.hpp"

namespace prism::conformance {

struct RunOptions {
  uint64_t seed = 1;
  int64_t timeout_s = 10;
  unsigned jobs = 1;        ///< tests at a time
  bool in_process = false;  ///< no processes: for a debugger; a crash then ends the caller
};

struct TestResult {
  std::string test;
  int stage = 0;
  Verdict verdict;
  double ms = 0;
};

/// Runs `tests` of the suite; those that depend on one that did not hold are blocked. `tell` is
/// called once per test, in their order, from this thread.
std::vector<TestResult> run_suite(const Subject& subject, const Suite& tests,
                                  const RunOptions& options,
                                  const std::function<void(const TestResult&)>& tell);

}  // namespace prism::conformance
