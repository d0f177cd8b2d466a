// SPDX-License-Identifier: Apache-2.0
/// Little-endian numbers in byte strings.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>

namespace prism::graph::file {

template <std::unsigned_integral T>
void append_number(std::string& out, T number) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    out += static_cast<char>(number >> (8 * i) & 0xffU);
  }
}

/// The caller has made sure that sizeof(T) bytes are there.
template <std::unsigned_integral T>
T number_at(const char* bytes) {
  T number = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    number = static_cast<T>(
        number | static_cast<T>(static_cast<T>(static_cast<uint8_t>(bytes[i])) << (8 * i)));
  }
  return number;
}

/// Small numbers of either sign as small numbers: 0, -1, 1, -2, ... are 0, 1, 2, 3, ...
constexpr uint64_t zigzag(uint64_t number) {
  return (number << 1U) ^ (0 - (number >> 63U));
}
constexpr uint64_t unzigzag(uint64_t number) {
  return (number >> 1U) ^ (0 - (number & 1U));
}

}  // namespace prism::graph::file
