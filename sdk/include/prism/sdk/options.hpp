// SPDX-License-Identifier: Apache-2.0
/// Options of a plugin: a constexpr table, from which the host validates the experiment file and
/// prints help, and typed access to the values that come back.
///
///   using namespace prism::sdk;   // or name by name
///   static constexpr auto kOptions = options(
///       boolean("sandbox", "Whether writes of the job go to an overlay.").by_default("true"),
///       integer("nice", "Priority of the ranks.").range(0, 19).by_default("0"),
///       path("python", "The interpreter."));
///   ...
///   explicit MyLauncher(const OptionValues& values) : nice_(values.integer("nice")) {
///     if (values.has("python")) { python_ = values.text("python"); }
///   }
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "prism/abi/option.h"
#include "prism/sdk/error.hpp"
#include "prism/sdk/text.hpp"

namespace prism::sdk {

namespace detail {

template <typename T>
concept Number = (std::integral<T> && !std::same_as<T, bool>) || std::floating_point<T>;

/// Where a table is a constant, as it should be, this ends the compilation: see the second
/// argument.
constexpr void expect(bool holds, const char* what) {
  if (!holds) {
    throw Error(PRISM_STATUS_INTERNAL, std::string("an option of the plugin is wrong: ") + what);
  }
}

template <typename T>
constexpr int64_t whole(T bound) {
  if constexpr (std::integral<T>) {
    expect(std::in_range<int64_t>(bound), "a bound fits into 64 bits");
  } else {
    expect(false, "the bounds of an integer, a duration or a number of bytes are whole numbers");
  }
  return static_cast<int64_t>(bound);
}

}  // namespace detail

/// One row of the table, made by boolean(), integer(), ... and refined by chaining.
class Option {
 public:
  constexpr Option(int32_t type, std::string_view name, std::string_view doc) {
    row_.name = to_c(name);
    row_.type = type;
    row_.min = std::numeric_limits<int64_t>::min();
    row_.max = std::numeric_limits<int64_t>::max();
    row_.doc = to_c(doc);
  }
  /// The experiment file must give it.
  constexpr Option required() const {
    Option copy = *this;
    copy.row_.required = 1;
    return copy;
  }
  /// As written in TOML, e.g. "5", "\"25 us\"", "true".
  constexpr Option by_default(std::string_view toml) const {
    Option copy = *this;
    copy.row_.default_text = to_c(toml);
    return copy;
  }
  /// Inclusive bounds of a number: whole ones of an integer, a duration (ns) or a number of bytes,
  /// any of a real. Bounds that the option cannot have do not compile.
  template <typename Min, typename Max>
  constexpr Option range(Min min, Max max) const {
    static_assert(detail::Number<Min> && detail::Number<Max>, "bounds are numbers");
    Option copy = *this;
    if (row_.type == PRISM_OPTION_FLOAT) {
      copy.row_.real_min = static_cast<double>(min);
      copy.row_.real_max = static_cast<double>(max);
      detail::expect(copy.row_.real_min <= copy.row_.real_max,
                     "its smallest value is not above its largest");
      detail::expect(copy.row_.real_min != 0 || copy.row_.real_max != 0,
                     "bounds 0 and 0 would mean none");
      return copy;
    }
    detail::expect(row_.type == PRISM_OPTION_INT || row_.type == PRISM_OPTION_DURATION ||
                       row_.type == PRISM_OPTION_BYTES,
                   "an option with bounds is a number");
    copy.row_.min = detail::whole(min);
    copy.row_.max = detail::whole(max);
    detail::expect(copy.row_.min <= copy.row_.max, "its smallest value is not above its largest");
    detail::expect(copy.row_.min != 0 || copy.row_.max != 0, "bounds 0 and 0 would mean none");
    return copy;
  }
  /// Allowed strings; the array must be static, e.g.
  /// `static constexpr prism_str_t kModes[] = {to_c("fast"), to_c("exact")};`
  template <size_t N>
  constexpr Option choices(const prism_str_t (&texts)[N]) const {
    detail::expect(row_.type == PRISM_OPTION_STRING, "an option with choices is a text");
    Option copy = *this;
    copy.row_.choices = texts;
    copy.row_.choice_count = N;
    return copy;
  }
  constexpr const prism_option_t& row() const { return row_; }

 private:
  prism_option_t row_{};
};

constexpr Option boolean(std::string_view name, std::string_view doc) {
  return {PRISM_OPTION_BOOL, name, doc};
}
constexpr Option integer(std::string_view name, std::string_view doc) {
  return {PRISM_OPTION_INT, name, doc};
}
constexpr Option real(std::string_view name, std::string_view doc) {
  return {PRISM_OPTION_FLOAT, name, doc};
}
constexpr Option text(std::string_view name, std::string_view doc) {
  return {PRISM_OPTION_STRING, name, doc};
}
/// Value in nanoseconds.
constexpr Option duration(std::string_view name, std::string_view doc) {
  return {PRISM_OPTION_DURATION, name, doc};
}
constexpr Option bytes(std::string_view name, std::string_view doc) {
  return {PRISM_OPTION_BYTES, name, doc};
}
/// The host makes the value absolute.
constexpr Option path(std::string_view name, std::string_view doc) {
  return {PRISM_OPTION_PATH, name, doc};
}

/// The rows, ready for the C table.
template <typename... Rows>
constexpr std::array<prism_option_t, sizeof...(Rows)> options(const Rows&... rows) {
  return {rows.row()...};
}

template <size_t N>
constexpr prism_option_table_t option_table(const std::array<prism_option_t, N>& rows) {
  return {rows.data(), N, sizeof(prism_option_t)};
}

/// The values that the host validated, one per row. Valid during the call that passes them.
/// A name or type that the table does not have is a mistake of the plugin: throws Error INTERNAL.
class OptionValues {
 public:
  /// Throws Error when the host's values do not fit the table.
  OptionValues(prism_option_table_t table, const prism_option_value_t* values, uint64_t count)
      : table_(table), values_(values) {
    if (count != table.count || (count > 0 && values == nullptr)) {
      throw Error(PRISM_STATUS_INVALID_ARGUMENT, "the host gave " + std::to_string(count) +
                                                     " option values for " +
                                                     std::to_string(table.count) + " options");
    }
    for (uint64_t i = 0; i < count; ++i) {
      if (values[i].set != 0 && values[i].type != table.rows[i].type) {
        throw Error(PRISM_STATUS_INVALID_ARGUMENT,
                    "the host gave a value of the wrong type for option '" +
                        copy(table.rows[i].name) + "'");
      }
    }
  }

  /// Whether the option has a value, from the experiment file or by default.
  bool has(std::string_view name) const { return values_[index(name)].set != 0; }
  bool boolean(std::string_view name) const {
    return value(name, PRISM_OPTION_BOOL).u.boolean != 0;
  }
  int64_t integer(std::string_view name) const { return value(name, PRISM_OPTION_INT).u.integer; }
  double real(std::string_view name) const { return value(name, PRISM_OPTION_FLOAT).u.real; }
  std::string text(std::string_view name) const {
    return copy(value(name, PRISM_OPTION_STRING).u.text);
  }
  int64_t duration_ns(std::string_view name) const {
    return value(name, PRISM_OPTION_DURATION).u.integer;
  }
  int64_t bytes(std::string_view name) const { return value(name, PRISM_OPTION_BYTES).u.integer; }
  std::string path(std::string_view name) const {
    return copy(value(name, PRISM_OPTION_PATH).u.text);
  }

 private:
  uint64_t index(std::string_view name) const {
    for (uint64_t i = 0; i < table_.count; ++i) {
      if (view(table_.rows[i].name) == name) {
        return i;
      }
    }
    throw Error(PRISM_STATUS_INTERNAL,
                "the plugin asked for an option '" + std::string(name) + "' that it does not have");
  }
  const prism_option_value_t& value(std::string_view name, int32_t type) const {
    const uint64_t i = index(name);
    if (table_.rows[i].type != type) {
      throw Error(PRISM_STATUS_INTERNAL,
                  "the plugin asked for option '" + std::string(name) + "' as another type");
    }
    if (values_[i].set == 0) {
      throw Error(PRISM_STATUS_INVALID_ARGUMENT, "option '" + std::string(name) + "' has no value");
    }
    return values_[i];
  }

  prism_option_table_t table_;  // rows are ours: their stride is sizeof(prism_option_t)
  const prism_option_value_t* values_;
};

namespace detail {
/// The options of an author's class; none when it has no kOptions.
template <typename T>
constexpr prism_option_table_t options_of() {
  if constexpr (requires { T::kOptions; }) {
    static_assert(
        requires { option_table(T::kOptions); },
        "kOptions must be: static constexpr auto kOptions = prism::sdk::options(...)");
    return option_table(T::kOptions);
  } else {
    return {nullptr, 0, sizeof(prism_option_t)};
  }
}
}  // namespace detail

}  // namespace prism::sdk
