// SPDX-License-Identifier: Apache-2.0
/// Patterns with wildcards, for names.
#pragma once

#include <cstddef>
#include <string_view>

namespace prism {

/// Whether `pattern` is all of `text`; a '*' in it stands for any characters, a '?' for one. Takes
/// at most as many steps as the product of the two lengths: a later '*' never needs an earlier one
/// again.
inline bool fits(std::string_view text, std::string_view pattern) {
  constexpr size_t kNone = std::string_view::npos;
  size_t t = 0;
  size_t p = 0;
  size_t star = kNone;  // the last '*', and where the text that it stands for may end
  size_t end = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      end = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != kNone) {
      p = star + 1;
      t = ++end;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == kNone;
}

}  // namespace prism
