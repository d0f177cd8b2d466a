// SPDX-License-Identifier: Apache-2.0
#include "decimal.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

namespace prism::microbatch {
namespace {

constexpr int64_t kBelow = 1'000'000'000;
constexpr int kBelowDigits = 9;
constexpr size_t kMostDigits = 18;
constexpr size_t kLongestText = 400;  // a double needs up to 327 characters without exponent

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

FineTime normalised(int64_t ns, int64_t below) {
  if (below < 0) {
    return {ns - 1, below + kBelow};
  }
  return below < kBelow ? FineTime{ns, below} : FineTime{ns + 1, below - kBelow};
}

/// Sign, digits without the point, and the power of ten of the last digit.
struct Decimal {
  bool negative = false;
  std::string digits;
  int exponent = 0;
};

std::optional<Decimal> parse_decimal(std::string_view text) {
  if (text.size() > kLongestText) {
    return std::nullopt;
  }
  Decimal decimal;
  size_t i = 0;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) {
    decimal.negative = text[i++] == '-';
  }
  for (; i < text.size() && is_digit(text[i]); ++i) {
    decimal.digits += text[i];
  }
  if (i < text.size() && text[i] == '.') {
    for (++i; i < text.size() && is_digit(text[i]); ++i) {
      decimal.digits += text[i];
      --decimal.exponent;
    }
  }
  if (decimal.digits.empty()) {
    return std::nullopt;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    i += i + 1 < text.size() && text[i + 1] == '+' ? 2 : 1;
    int exponent = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), exponent);
    if (error != std::errc() || std::abs(exponent) > 400) {
      return std::nullopt;
    }
    decimal.exponent += exponent;
    i = static_cast<size_t>(end - text.data());
  }
  if (i != text.size()) {
    return std::nullopt;
  }
  decimal.digits.erase(0, decimal.digits.find_first_not_of('0'));
  return decimal;
}

int64_t to_number(std::string_view digits) {
  int64_t number = 0;
  for (const char digit : digits) {
    number = number * 10 + (digit - '0');
  }
  return number;
}

}  // namespace

bool is_number(std::string_view text) {
  size_t i = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  size_t digits = 0;
  const auto skip_digits = [&] {
    for (; i < text.size() && is_digit(text[i]); ++i) {
      ++digits;
    }
  };
  skip_digits();
  if (i < text.size() && text[i] == '.') {
    ++i;
    skip_digits();
  }
  if (digits == 0) {
    return false;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    i += i < text.size() && text[i] == '+' ? 1 : 0;
    digits = 0;
    skip_digits();
  }
  return digits > 0 && i == text.size();
}

std::string shown(std::string_view text) {
  std::string shown(text.substr(0, 40));
  std::replace_if(shown.begin(), shown.end(), is_control, '?');
  return shown;
}

FineTime FineTime::operator+(const FineTime& other) const {
  return normalised(ns + other.ns, below + other.below);
}

FineTime FineTime::operator-(const FineTime& other) const {
  return normalised(ns - other.ns, below - other.below);
}

std::optional<FineTime> parse_time(std::string_view text, int digits) {
  std::optional<Decimal> decimal = parse_decimal(text);
  if (!decimal) {
    return std::nullopt;
  }
  if (decimal->digits.empty()) {
    return FineTime{};
  }
  // The digits before the point once the point stands behind nanoseconds; negative: zeros follow
  // it.
  const int whole = static_cast<int>(decimal->digits.size()) + decimal->exponent + digits;
  if (whole > static_cast<int>(kMostDigits)) {
    return std::nullopt;
  }
  if (whole < 0) {
    decimal->digits.insert(0, static_cast<size_t>(-whole), '0');
  }
  const size_t point = static_cast<size_t>(std::max(whole, 0));
  decimal->digits.resize(point + kBelowDigits, '0');
  const std::string_view all = decimal->digits;
  const int64_t ns = to_number(all.substr(0, point));
  const int64_t below = to_number(all.substr(point));
  return decimal->negative ? normalised(-ns, -below) : FineTime{ns, below};
}

std::optional<int64_t> parse_whole(std::string_view text) {
  const std::optional<FineTime> number = parse_time(text, 0);
  if (!number || number->below != 0) {
    return std::nullopt;
  }
  return number->ns;
}

bool is_too_large(std::string_view text, int64_t most) {
  const std::optional<FineTime> number = parse_time(text, 0);
  return number ? number->ns > most : is_number(text) && text[0] != '-';
}

}  // namespace prism::microbatch
