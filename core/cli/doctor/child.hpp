// SPDX-License-Identifier: Apache-2.0
/// Work in a forked child: what might crash, hang or change the process for good.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace prism::cli {

/// In bytes.
inline constexpr size_t kMaxChildOutput = 1U << 20;

struct ChildResult {
  bool ok = false;       ///< ended in time with exit code 0
  std::string output;    ///< what it wrote; at most the first kMaxChildOutput
  bool stopped = false;  ///< a signal came that asks this process to end
  std::string ending;  ///< when not ok, in words: "exit code 1", "signal 11 (...)", "no answer ..."
};

/// Runs `body` in a child; `output` is the descriptor to write to, the result its exit code. When
/// it ends, at the latest after `timeout`, all that it has started is ended too, daemons included
/// (sdk/child/supervisor.hpp: this process must have no other children). Its standard error is
/// dropped.
ChildResult in_child(const std::function<int(int output)>& body, std::chrono::milliseconds timeout);

/// Runs a program, found through PATH, and takes its standard output. Ending "not found": as it
/// says.
ChildResult run_program(const std::vector<std::string>& argv, std::chrono::milliseconds timeout);

}  // namespace prism::cli
