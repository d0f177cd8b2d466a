// SPDX-License-Identifier: Apache-2.0
/// Runs one test in processes of its own, so that whatever the plugin does stays there: it may
/// crash, hang, print, fork, take all memory or end the process.
///
///   caller --exec--> supervisor --fork--> test
///
/// The supervisor is a fresh program without threads, so that it may fork; it limits the test,
/// ends it with all that it started, and finds out how it ended. Its verdict comes back in memory
/// shared with the caller.
#pragma once

#include <string>

#include "sdk/conformance/test.hpp"

namespace prism::conformance {

constexpr int64_t kDefaultTimeoutS = 10;

/// Starts subject.child_command followed by test, seed and timeout, and waits for it. Thread: any,
/// also several at once.
Verdict run_in_child(const Subject& subject, const std::string& test, uint64_t seed,
                     int64_t timeout_s);

/// What the started program does: runs the test of that name. Returns the exit code of the program:
/// 0, or 2 when run_in_child() did not start it.
int supervise(const Subject& subject, const std::string& test, uint64_t seed, int64_t timeout_s);

}  // namespace prism::conformance
