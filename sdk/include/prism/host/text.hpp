// SPDX-License-Identifier: Apache-2.0
/// Text that comes from a plugin: checked before it is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "prism/abi/string.h"

namespace prism::host {

/// The longest text that a plugin may hand over in one piece; the rest is cut.
constexpr uint64_t kMaxText = uint64_t{1} << 20;

/// Length in bytes of the UTF-8 character at the start of `text`, or 0 when there is none.
inline size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) {
    return 0;
  }
  const unsigned char first = byte(0);
  if (first < 0x80) {
    return 1;
  }
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) {
      return 0;
    }
  }
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool surrogate = first == 0xed && byte(1) > 0x9f;
  const bool beyond = first == 0xf4 && byte(1) > 0x8f;
  return overlong || surrogate || beyond ? 0 : length;
}

/// Whether `text` is UTF-8 of at most `max` bytes at a valid address.
inline bool valid_text(prism_str_t text, uint64_t max) {
  if (text.len > max || (text.ptr == nullptr && text.len > 0)) {
    return false;
  }
  std::string_view rest(text.len == 0 ? "" : text.ptr, static_cast<size_t>(text.len));
  while (!rest.empty()) {
    const size_t length = utf8_length(rest);
    if (length == 0) {
      return false;
    }
    rest.remove_prefix(length);
  }
  return true;
}

/// A copy that is UTF-8 in any case: what is not becomes '?', what is too long is cut.
inline std::string clean_text(prism_str_t text) {
  if (text.ptr == nullptr) {
    return {};
  }
  std::string_view rest(text.ptr, static_cast<size_t>(text.len < kMaxText ? text.len : kMaxText));
  std::string clean;
  while (!rest.empty()) {
    const size_t length = utf8_length(rest);
    if (length == 0) {
      clean += '?';
      rest.remove_prefix(1);
    } else {
      clean += rest.substr(0, length);
      rest.remove_prefix(length);
    }
  }
  return clean;
}

}  // namespace prism::host
