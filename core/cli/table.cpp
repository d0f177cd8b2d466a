// SPDX-License-Identifier: Apache-2.0
#include "core/cli/table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace prism::cli {
namespace {

/// Three significant digits and more: "1.23", "12.3", "123.4".
std::string number(double value) {
  char text[64];
  const int digits = std::abs(value) < 10 ? 2 : 1;
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

}  // namespace

std::string Table::to_string() const {
  std::vector<size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - row[i].size(), ' ');
      const bool left = i == 0 || align_ == Align::Left;
      line += left ? "  " + row[i] + pad : "  " + pad + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string format_duration(DurationNs ns) {
  const double value = static_cast<double>(ns);
  if (std::abs(value) < 1e3) {
    return std::to_string(ns) + " ns";
  }
  if (std::abs(value) < 1e6) {
    return number(value / 1e3) + " us";
  }
  if (std::abs(value) < 1e9) {
    return number(value / 1e6) + " ms";
  }
  return number(value / 1e9) + " s";
}

std::string format_bytes(uint64_t bytes) {
  static constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) {
    return std::to_string(bytes) + " B";
  }
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return number(value) + " " + kUnits.at(unit);
}

std::string format_percent(double share) {
  return number(share * 100) + " %";
}

std::string format_change(double share, int decimals) {
  char text[400];  // the longest double has 309 digits
  std::snprintf(text, sizeof text, "%+.*f %%", decimals, 100 * share);
  return text;
}

std::string count_of(uint64_t n, const std::string& noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

}  // namespace prism::cli
