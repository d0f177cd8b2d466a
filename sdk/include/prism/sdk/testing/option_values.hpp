// SPDX-License-Identifier: Apache-2.0
/// Values for a plugin's options in unit tests, written as in the experiment file. The host checks
/// more: this is for tests that give what is right.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "prism/abi/option.h"
#include "prism/host/bind.hpp"
#include "prism/sdk/text.hpp"

namespace prism::sdk::testing {

/// {{"exponent", "1.5"}, {"mode", "\"fast\""}, {"delay", "\"25 us\""}}; text also without quotes.
using Options = std::vector<std::pair<std::string, std::string>>;

/// One value per row of the table: those given, else the defaults.
class OptionTexts {
 public:
  /// Throws std::invalid_argument for an option that the table does not have, a text that is no
  /// value of its type, not within its bounds or none of its choices, and where a required one is
  /// missing.
  OptionTexts(const prism_option_table_t& table, const Options& given) {
    for (const auto& [name, text] : given) {
      find(table, name);
    }
    for (uint64_t i = 0; i < table.count; ++i) {
      const prism_option_t& row = host::option_row(table, i);
      std::string text = copy(row.default_text);
      bool set = !text.empty();
      for (const auto& [name, value] : given) {
        if (name == view(row.name)) {
          text = value;
          set = true;
        }
      }
      if (!set && row.required != 0) {
        throw std::invalid_argument("option '" + copy(row.name) +
                                    "' is required: give the session a value for it");
      }
      values_.push_back(set ? parse(row, text) : unset(row));
    }
  }
  OptionTexts(const OptionTexts&) = delete;
  OptionTexts& operator=(const OptionTexts&) = delete;

  const prism_option_value_t* data() const { return values_.data(); }
  uint64_t size() const { return values_.size(); }

 private:
  struct Unit {
    std::string_view name;
    double factor;
  };

  static void find(const prism_option_table_t& table, std::string_view name) {
    for (uint64_t i = 0; i < table.count; ++i) {
      if (view(host::option_row(table, i).name) == name) {
        return;
      }
    }
    std::string names;
    for (uint64_t i = 0; i < table.count; ++i) {
      names += (names.empty() ? "; there are: " : ", ") + copy(host::option_row(table, i).name);
    }
    throw std::invalid_argument("there is no option '" + std::string(name) + "'" + names);
  }

  static prism_option_value_t unset(const prism_option_t& row) {
    prism_option_value_t value{};
    value.type = row.type;
    return value;
  }

  [[noreturn]] static void refuse(const prism_option_t& row, const std::string& text) {
    throw std::invalid_argument("option '" + copy(row.name) + "' does not take " + text);
  }

  template <typename Number>
  static Number number(const prism_option_t& row, const std::string& text) {
    Number result{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
    if (error != std::errc() || end != text.data() + text.size()) {
      refuse(row, text);
    }
    return result;
  }

  /// "25 us" with the units of the option's type.
  static int64_t quantity(const prism_option_t& row, const std::string& text) {
    static constexpr Unit kTimes[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    static constexpr Unit kSizes[] = {{"B", 1},      {"kB", 1e3},      {"MB", 1e6},     {"GB", 1e9},
                                      {"KiB", 1024}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
    const size_t space = text.find(' ');
    if (space == std::string::npos) {
      refuse(row, text);
    }
    const double amount = number<double>(row, text.substr(0, space));
    const std::string_view unit = std::string_view(text).substr(space + 1);
    const auto convert = [&](const auto& units) -> int64_t {
      for (const Unit& known : units) {
        if (known.name == unit) {
          return std::llround(amount * known.factor);
        }
      }
      refuse(row, text);
    };
    return row.type == PRISM_OPTION_DURATION ? convert(kTimes) : convert(kSizes);
  }

  static std::string unquoted(const std::string& text) {
    const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
    return quoted ? text.substr(1, text.size() - 2) : text;
  }

  static void check_bounds(const prism_option_t& row, int64_t value, const std::string& text) {
    const bool bounded = row.min != 0 || row.max != 0;
    if (bounded && (value < row.min || value > row.max)) {
      refuse(row, text + ", which is out of range");
    }
  }

  static void check_choice(const prism_option_t& row, const std::string& text) {
    for (uint64_t i = 0; i < row.choice_count; ++i) {
      if (view(row.choices[i]) == text) {
        return;
      }
    }
    if (row.choice_count > 0) {
      refuse(row, text);
    }
  }

  prism_option_value_t parse(const prism_option_t& row, const std::string& text) {
    prism_option_value_t value = unset(row);
    value.set = 1;
    switch (row.type) {
      case PRISM_OPTION_BOOL:
        if (text != "true" && text != "false") {
          refuse(row, text);
        }
        value.u.boolean = text == "true" ? 1 : 0;
        break;
      case PRISM_OPTION_INT:
        value.u.integer = number<int64_t>(row, text);
        check_bounds(row, value.u.integer, text);
        break;
      case PRISM_OPTION_FLOAT:
        value.u.real = number<double>(row, text);
        if ((row.real_min != 0 || row.real_max != 0) &&
            (value.u.real < row.real_min || value.u.real > row.real_max)) {
          refuse(row, text + ", which is out of range");
        }
        break;
      case PRISM_OPTION_DURATION:
      case PRISM_OPTION_BYTES:
        value.u.integer = quantity(row, unquoted(text));
        check_bounds(row, value.u.integer, text);
        break;
      default:
        texts_.push_back(unquoted(text));
        check_choice(row, texts_.back());
        value.u.text = to_c(texts_.back());
    }
    return value;
  }

  std::vector<prism_option_value_t> values_;
  std::list<std::string> texts_;  // stays where it is: values point into it
};

}  // namespace prism::sdk::testing
