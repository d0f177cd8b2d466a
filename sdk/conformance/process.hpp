// SPDX-License-Identifier: Apache-2.0
/// Counts of what this process holds, for telling whether a plugin left something.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace prism::conformance {

inline size_t entries_of(const char* folder) {
  size_t count = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    ++count;
  }
  return count;
}

inline size_t thread_count() {
  return entries_of("/proc/self/task");
}

/// Threads, once those that are ending had up to a second to do so: joining a thread returns a
/// little before the kernel forgets it.
inline size_t settled_thread_count(size_t expected) {
  for (int i = 0; i < 100 && thread_count() > expected; ++i) {
    usleep(10'000);
  }
  return thread_count();
}

inline size_t open_file_count() {
  return entries_of("/proc/self/fd");
}

/// How many files five rounds leave open. One before them is not counted: what is kept once, for
/// good, is no leak.
template <typename Round>
size_t files_left_open(Round round) {
  round();
  const size_t before = open_file_count();
  for (int i = 0; i < 5; ++i) {
    round();
  }
  const size_t after = open_file_count();
  return after > before ? after - before : 0;
}

/// Whether a file is mapped into this process.
inline bool is_mapped(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.size() >= path.size() &&
        line.compare(line.size() - path.size(), path.size(), path) == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace prism::conformance
