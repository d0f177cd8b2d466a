// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/kineto/decimal.hpp"

#include <charconv>
#include <limits>

namespace prism::kineto {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// `value` * 10^`power`, rounded; none: too large.
std::optional<uint64_t> scaled(uint64_t value, int64_t power) {
  if (value == 0) {
    return 0;
  }
  for (; power > 0; --power) {
    if (value > std::numeric_limits<uint64_t>::max() / 10) {
      return std::nullopt;
    }
    value *= 10;
  }
  uint64_t last = 0;
  for (; power < 0 && (value != 0 || last != 0); ++power) {
    last = value % 10;
    value /= 10;
  }
  return power == 0 && last >= 5 ? value + 1 : value;
}

/// Moves `at` behind its digits; false: there is none.
bool skip_digits(const char*& at, const char* end) {
  const char* const begin = at;
  while (at != end && is_digit(*at)) {
    ++at;
  }
  return at != begin;
}

}  // namespace

std::optional<int64_t> nanoseconds(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const bool negative = at != end && *at == '-';
  at += negative ? 1 : 0;
  constexpr uint64_t kFull = std::numeric_limits<uint64_t>::max() / 10 - 1;
  uint64_t mantissa = 0;
  int64_t power = 3;
  if (at == end || !is_digit(*at)) {
    return std::nullopt;
  }
  for (; at != end && is_digit(*at); ++at) {
    if (mantissa > kFull) {
      return std::nullopt;
    }
    mantissa = mantissa * 10 + static_cast<uint64_t>(*at - '0');
  }
  if (at != end && *at == '.') {
    ++at;
    if (at == end || !is_digit(*at)) {
      return std::nullopt;
    }
    for (; at != end && is_digit(*at); ++at) {
      if (mantissa <= kFull) {
        mantissa = mantissa * 10 + static_cast<uint64_t>(*at - '0');
        --power;
      }
    }
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    at += at != end && *at == '+' ? 1 : 0;
    int32_t exponent = 0;
    const auto [stop, error] = std::from_chars(at, end, exponent);
    if (error != std::errc()) {
      return std::nullopt;
    }
    at = stop;
    power += exponent;
  }
  if (at != end) {
    return std::nullopt;
  }
  const std::optional<uint64_t> value = scaled(mantissa, power);
  if (!value || *value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return std::nullopt;
  }
  const auto signless = static_cast<int64_t>(*value);
  return negative ? -signless : signless;
}

bool is_number(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  at += at != end && *at == '-' ? 1 : 0;
  if (!skip_digits(at, end)) {
    return false;
  }
  if (at != end && *at == '.' && !skip_digits(++at, end)) {
    return false;
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    at += at != end && *at == '+' ? 1 : 0;
    if (!skip_digits(at, end)) {
      return false;
    }
  }
  return at == end;
}

}  // namespace prism::kineto
