// SPDX-License-Identifier: Apache-2.0
/// Text tables and figures with units, for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.hpp"

namespace prism::cli {

/// Columns padded to their widest cell, two spaces apart; the first column is aligned left.
class Table {
 public:
  /// Right: the other columns hold figures; Left: words.
  enum class Align : uint8_t { Right, Left };
  explicit Table(std::vector<std::string> header, Align align = Align::Right) : align_(align) {
    rows_.push_back(std::move(header));
  }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.size() == 1; }
  std::string to_string() const;

 private:
  Align align_;
  std::vector<std::vector<std::string>> rows_;
};

/// "812 ns", "25.3 us", "170.1 ms", "2.34 s".
std::string format_duration(DurationNs ns);
/// "512 B", "1.5 KiB", "4.2 GiB".
std::string format_bytes(uint64_t bytes);
/// "12.3 %".
std::string format_percent(double share);
/// "-3.21 %", "+0.001 %".
std::string format_change(double share, int decimals);
/// "1 rank", "3 ranks".
std::string count_of(uint64_t n, const std::string& noun);

}  // namespace prism::cli
