// SPDX-License-Identifier: Apache-2.0
#include "core/schedule/log_tail.hpp"

#include <algorithm>
#include <fstream>

namespace prism::schedule {

std::string log_tail(const std::string& path, size_t max_lines) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) {
    return {};
  }
  const auto size = static_cast<size_t>(in.tellg());
  constexpr size_t kMaxBytes = 8000;
  const size_t n = std::min(size, kMaxBytes);
  std::string text(n, '\0');
  in.seekg(static_cast<std::streamoff>(size - n));
  in.read(text.data(), static_cast<std::streamsize>(n));
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  size_t from = text.size();
  for (size_t lines = 0; lines < max_lines && from > 0; ++lines) {
    const size_t newline = text.rfind('\n', from - 1);
    from = newline == std::string::npos ? 0 : newline;
  }
  return text.substr(from > 0 ? from + 1 : 0);
}

std::string indent(const std::string& text) {
  std::string out = "    ";
  for (const char c : text) {
    out += c;
    if (c == '\n') {
      out += "    ";
    }
  }
  return out;
}

}  // namespace prism::schedule
