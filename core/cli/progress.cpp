// SPDX-License-Identifier: Apache-2.0
#include "core/cli/progress.hpp"

#include <cstdio>
#include <unistd.h>

namespace prism::cli {

ProgressLine::ProgressLine() : terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  clear();
}

void ProgressLine::step(const std::string& text) {
  clear();
  std::fprintf(stderr, "%s\n", text.c_str());
}

void ProgressLine::now(const std::string& text) {
  constexpr auto kRedraw = std::chrono::milliseconds(100);
  const auto time = std::chrono::steady_clock::now();
  if (!terminal_ || time - last_ < kRedraw) {
    return;
  }
  last_ = time;
  drawn_ = true;
  std::fprintf(stderr, "\r\x1b[K%s", text.c_str());
}

void ProgressLine::clear() {
  if (drawn_) {
    std::fprintf(stderr, "\r\x1b[K");
    drawn_ = false;
  }
}

}  // namespace prism::cli
