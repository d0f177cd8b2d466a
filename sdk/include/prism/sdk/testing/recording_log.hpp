// SPDX-License-Identifier: Apache-2.0
/// The lines that a plugin under test logs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace prism::sdk::testing {

struct LogLine {
  int32_t level;  ///< PRISM_LOG_
  std::string text;
};

/// Any thread.
class RecordingLog {
 public:
  void add(int32_t level, std::string_view text) {
    const std::lock_guard lock(mutex_);
    lines_.push_back({level, std::string(text)});
  }
  std::vector<LogLine> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  /// Whether some line has `text` in it.
  bool contains(std::string_view text) const {
    const std::lock_guard lock(mutex_);
    return std::any_of(lines_.begin(), lines_.end(), [&](const LogLine& line) {
      return line.text.find(text) != std::string::npos;
    });
  }

 private:
  mutable std::mutex mutex_;
  std::vector<LogLine> lines_;
};

}  // namespace prism::sdk::testing
