// SPDX-License-Identifier: Apache-2.0
#include "core/config/quantity.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <span>
#include <vector>

#include "core/base/text.hpp"
#include "core/config/source.hpp"
#include "core/config/suggest.hpp"

namespace prism::config {
namespace {

__extension__ using UInt128 = unsigned __int128;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

/// One unit is `times` / `per` base units.
struct Unit {
  std::string_view name;
  int64_t times;
  int64_t per = 1;
  bool written = true;  ///< format_quantity may use it
};

// Ascending; the first is the base unit.
constexpr std::array<Unit, 7> kDurations = {{{"ns", 1},
                                             {"us", 1'000},
                                             {"ms", 1'000'000},
                                             {"s", 1'000'000'000},
                                             {"min", 60'000'000'000},
                                             {"h", 3'600'000'000'000},
                                             {"d", 86'400'000'000'000}}};
constexpr std::array<Unit, 11> kBytes = {{{"B", 1},
                                          {"kB", 1'000},
                                          {"KiB", int64_t{1} << 10},
                                          {"MB", 1'000'000},
                                          {"MiB", int64_t{1} << 20},
                                          {"GB", 1'000'000'000},
                                          {"GiB", int64_t{1} << 30},
                                          {"TB", 1'000'000'000'000},
                                          {"TiB", int64_t{1} << 40},
                                          {"PB", 1'000'000'000'000'000},
                                          {"PiB", int64_t{1} << 50}}};
constexpr std::array<Unit, 14> kBandwidths = {{{"B/s", 1},
                                               {"kB/s", 1'000},
                                               {"MB/s", 1'000'000},
                                               {"GB/s", 1'000'000'000},
                                               {"TB/s", 1'000'000'000'000},
                                               {"KiB/s", int64_t{1} << 10, 1, false},
                                               {"MiB/s", int64_t{1} << 20, 1, false},
                                               {"GiB/s", int64_t{1} << 30, 1, false},
                                               {"TiB/s", int64_t{1} << 40, 1, false},
                                               {"bit/s", 1, 8, false},
                                               {"kbit/s", 1'000, 8, false},
                                               {"Mbit/s", 1'000'000, 8, false},
                                               {"Gbit/s", 1'000'000'000, 8, false},
                                               {"Tbit/s", 1'000'000'000'000, 8, false}}};

std::span<const Unit> units(Quantity quantity) {
  switch (quantity) {
    case Quantity::Duration:
      return kDurations;
    case Quantity::Bytes:
      return kBytes;
    case Quantity::Bandwidth:
      break;
  }
  return kBandwidths;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_power_of_ten(int64_t number) {
  while (number % 10 == 0) {
    number /= 10;
  }
  return number == 1;
}

std::string quoted(std::string_view text) {
  return "\"" + printable(text) + "\"";
}

/// "KB", "Gb/s", "sec": what people write for the units above.
std::string unit_hint(Quantity quantity, std::string_view word) {
  if (word == "KB" || word == "KB/s") {
    std::string per(word.substr(2));
    return "write kB" + per + " (1000) or KiB" + per + " (1024)";
  }
  std::vector<std::string_view> names;
  for (const Unit& unit : units(quantity)) {
    names.push_back(unit.name);
  }
  auto lower = [](std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
  };
  for (std::string_view name : names) {
    if (lower(name) == lower(word)) {
      return "did you mean '" + std::string(name) + "'?";
    }
  }
  std::string_view near = nearest(word, names);
  if (!near.empty()) {
    return "did you mean '" + std::string(near) + "'?";
  }
  std::string list = "the units are ";
  for (size_t i = 0; i < names.size(); ++i) {
    list += (i > 0 ? ", " : "") + std::string(names[i]);
  }
  return list;
}

}  // namespace

std::variant<int64_t, QuantityProblem> parse_quantity(Quantity quantity, std::string_view text) {
  auto problem = [&](ErrorCode code, std::string message, size_t begin, size_t end,
                     std::string hint = {}) {
    return QuantityProblem{code, std::move(message), std::move(hint), begin, std::max(end, begin)};
  };
  auto malformed = [&] {
    return problem(ErrorCode::Unit,
                   quoted(text) + " is not " + std::string(quantity_example(quantity)), 0,
                   text.size());
  };
  auto base = units(quantity).front().name;
  auto too_large = [&] {
    return problem(
        ErrorCode::Range,
        quoted(text) + " is too large: at most " + std::to_string(kMax) + " " + std::string(base),
        0, text.size());
  };

  size_t i = 0;
  while (i < text.size() && is_digit(text[i])) {
    ++i;
  }
  size_t whole_end = i;
  std::string digits(text.substr(0, i));
  size_t decimals = 0;
  if (i < text.size() && text[i] == '.') {
    ++i;
    size_t begin = i;
    while (i < text.size() && is_digit(text[i])) {
      ++i;
    }
    if (i == begin) {
      return malformed();
    }
    std::string_view fraction = text.substr(begin, i - begin);
    fraction = fraction.substr(0, fraction.find_last_not_of('0') + 1);
    digits += fraction;
    decimals = fraction.size();
  }
  if (whole_end == 0) {
    bool negative = text.size() > 1 && text[0] == '-' && is_digit(text[1]);
    return negative ? problem(ErrorCode::Range, quoted(text) + " is negative", 0, text.size())
                    : malformed();
  }
  size_t number_end = i;
  while (i < text.size() && text[i] == ' ') {
    ++i;
  }
  std::string_view word = text.substr(i);
  if (word.empty()) {
    return problem(ErrorCode::Unit, quoted(text) + " has no unit", 0, text.size(),
                   "write " + std::string(quantity_example(quantity)));
  }
  auto all = units(quantity);
  auto unit = std::find_if(all.begin(), all.end(), [&](const Unit& u) { return u.name == word; });
  if (unit == all.end()) {
    return problem(ErrorCode::Unit, "unknown unit '" + printable(word, 20) + "' in " + quoted(text),
                   i, text.size(), unit_hint(quantity, word));
  }

  // More decimals than a unit has zeros never give a whole number; 18 also keeps 10^n in range.
  if (decimals > 18) {
    return problem(ErrorCode::Range, quoted(text) + " has too many decimals", 0, number_end);
  }
  UInt128 value = 0;
  for (char c : digits) {
    value = value * 10 + static_cast<UInt128>(c - '0');
    if (value > (UInt128{1} << 100)) {
      return too_large();
    }
  }
  UInt128 divisor = static_cast<UInt128>(unit->per);
  for (size_t k = 0; k < decimals; ++k) {
    divisor *= 10;
  }
  UInt128 scaled = 0;
  if (__builtin_mul_overflow(value, static_cast<UInt128>(unit->times), &scaled)) {
    return too_large();
  }
  if (scaled % divisor != 0) {
    return problem(ErrorCode::Range,
                   quoted(text) + " is not a whole number of " + std::string(base), 0, text.size());
  }
  if (scaled / divisor > static_cast<UInt128>(kMax)) {
    return too_large();
  }
  return static_cast<int64_t>(scaled / divisor);
}

std::string format_quantity(Quantity quantity, int64_t value) {
  auto all = units(quantity);
  for (size_t i = all.size(); i-- > 1;) {
    const Unit& unit = all[i];
    if (!unit.written || value < unit.times || unit.per != 1) {
      continue;
    }
    if (value % unit.times == 0) {
      return std::to_string(value / unit.times) + " " + std::string(unit.name);
    }
    // Up to three decimals read well ("12.5 GB/s"), but only of units of ten.
    int64_t step = unit.times / 1'000;
    if (is_power_of_ten(unit.times) && value % step == 0) {
      std::string fraction = std::to_string(value / step % 1'000);
      fraction.insert(0, 3 - fraction.size(), '0');
      fraction.erase(fraction.find_last_not_of('0') + 1);
      return std::to_string(value / unit.times) + "." + fraction + " " + std::string(unit.name);
    }
  }
  return std::to_string(value) + " " + std::string(all.front().name);
}

std::string_view quantity_example(Quantity quantity) {
  switch (quantity) {
    case Quantity::Duration:
      return "a duration such as \"25 us\"";
    case Quantity::Bytes:
      return "a size such as \"16 MiB\"";
    case Quantity::Bandwidth:
      break;
  }
  return "a bandwidth such as \"12.5 GB/s\"";
}

}  // namespace prism::config
