// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.hpp"

#include <algorithm>

#include "prism/host/text.hpp"

namespace prism {
namespace {

bool is_control(std::string_view text, size_t i) {
  auto byte = static_cast<unsigned char>(text[i]);
  bool c1 = byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
  return byte < 0x20 || byte == 0x7f || c1;
}

/// `kept`: control characters that stay.
std::string cleaned(std::string_view text, size_t limit, std::string_view kept) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (out.size() >= limit) {
      return out + "...";
    }
    const size_t length = host::utf8_length(text.substr(i));
    const bool unfit =
        length == 0 || (is_control(text, i) && kept.find(text[i]) == std::string_view::npos);
    out += unfit ? "?" : text.substr(i, length);
    i += std::max<size_t>(length, 1);
  }
  return out;
}

}  // namespace

size_t find_invalid_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    size_t length = host::utf8_length(text.substr(i));
    if (length == 0) {
      return i;
    }
    i += length;
  }
  return std::string_view::npos;
}

std::string printable(std::string_view text, size_t limit) {
  return cleaned(text, limit, {});
}

std::string printable_lines(std::string_view text) {
  return cleaned(text, std::string_view::npos, "\n\t");
}

}  // namespace prism
