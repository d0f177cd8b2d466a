// SPDX-License-Identifier: Apache-2.0
/// Between prism_str_t and the strings of C++.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "prism/abi/string.h"

namespace prism::sdk {

constexpr prism_str_t to_c(std::string_view text) noexcept {
  return {text.data(), text.size()};
}

constexpr std::string_view view(prism_str_t text) noexcept {
  return text.ptr == nullptr ? std::string_view()
                             : std::string_view(text.ptr, static_cast<size_t>(text.len));
}

inline std::string copy(prism_str_t text) {
  return std::string(view(text));
}

inline std::vector<std::string> copy(const prism_str_t* texts, uint64_t count) {
  std::vector<std::string> result;
  result.reserve(static_cast<size_t>(count));
  for (uint64_t i = 0; i < count; ++i) {
    result.emplace_back(view(texts[i]));
  }
  return result;
}

inline void write(const prism_text_sink_t* sink, std::string_view text) noexcept {
  if (sink != nullptr && sink->write != nullptr) {
    sink->write(sink->ctx, to_c(text));
  }
}

}  // namespace prism::sdk
