// SPDX-License-Identifier: Apache-2.0
/// Progress of long work on standard error: one line that is redrawn on a terminal, lines
/// otherwise.
#pragma once

#include <chrono>
#include <string>

namespace prism::cli {

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// A step that stays on the screen.
  void step(const std::string& text);
  /// What is going on now; on a terminal only, and not more often than the eye can follow.
  void now(const std::string& text);
  /// Takes the redrawn line off the screen.
  void clear();

 private:
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace prism::cli
