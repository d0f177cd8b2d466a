// SPDX-License-Identifier: Apache-2.0
/// Times as written: decimal text to nanoseconds and what is left over, by whole numbers only. A
/// double of seconds since 1970 has no nanoseconds left.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace prism::microbatch {

/// ns + below / 1e9 nanoseconds, 0 <= below < 1e9.
struct FineTime {
  int64_t ns = 0;
  int64_t below = 0;

  auto operator<=>(const FineTime&) const = default;
  FineTime operator+(const FineTime& other) const;
  FineTime operator-(const FineTime& other) const;
  int64_t rounded() const { return ns + (below >= 500'000'000 ? 1 : 0); }
};

inline constexpr int kSeconds = 9;  ///< decimal digits of a nanosecond in the unit
inline constexpr int kMicroseconds = 3;

/// "-1.5e-3", in units of 10^digits ns. None: no number, or beyond 10^18 ns (31 years) either way.
std::optional<FineTime> parse_time(std::string_view text, int digits);

/// Whether it is a number, however large; not with a negative exponent.
bool is_number(std::string_view text);

inline constexpr bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

/// As an error message shows it: the first 40 characters, control characters as '?'.
std::string shown(std::string_view text);

/// A whole number, which a table that had gaps may show as "3.0".
std::optional<int64_t> parse_whole(std::string_view text);

/// Whether parse_whole has none because of its size, or one above `most`.
bool is_too_large(std::string_view text, int64_t most);

}  // namespace prism::microbatch
