// SPDX-License-Identifier: Apache-2.0
/// Tables of options: one row describes a key once, and validation, defaults, `config show` and the
/// reference page come from it. Prism's own tables and those of plugins go through the same code.
///
///   constexpr Option kTime[] = {{.name = "repeats", .type = OptionType::Int, .default_text = "2",
///                                .min = 1, .doc = "How often each member runs."}};
///   auto values = validate_options(scope, kTime, diagnostics);
///   values[0].integer();
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/config/diagnostics.hpp"
#include "core/config/value.hpp"

namespace prism::config {

enum class OptionType : uint8_t {
  Bool,
  Int,
  Float,  ///< finite; an integer is taken where a double holds it exactly
  String,
  Duration,   ///< nanoseconds, >= 0
  Bytes,      ///< bytes, >= 0
  Bandwidth,  ///< bytes per second, >= 0
  Path,       ///< made absolute, relative to the folder of the file
  IntList,
  StringList,
  PathList,
  StringTable,   ///< table of strings
  StringOrList,  ///< a string or a list of strings
  RankList,      ///< a string such as "0-7,9", which the caller reads, or a list of integers
};

inline constexpr int64_t kNoMin = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kNoMax = std::numeric_limits<int64_t>::max();
inline constexpr double kNoRealBound = std::numeric_limits<double>::infinity();

struct Option {
  std::string_view name;
  OptionType type = OptionType::String;
  std::string_view default_text = {};  ///< as written in TOML; empty: unset
  bool required = false;
  int64_t min = kNoMin;  ///< of Int, Duration, Bytes, Bandwidth and of the elements of lists
  int64_t max = kNoMax;
  double real_min = -kNoRealBound;  ///< of Float
  double real_max = kNoRealBound;
  std::span<const std::string_view> choices = {};  ///< of String; none: any
  std::string_view doc = {};
};

using StringPairs = std::vector<std::pair<std::string, std::string>>;

/// A validated value. Lists of integers are vector<int64_t>, lists of text vector<string>; the
/// types that take a text or a list are what was written.
struct OptionValue {
  std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<int64_t>,
               std::vector<std::string>, StringPairs>
      data;
  Origin origin = Origin::Default;
  const Value* written = nullptr;  ///< in the document; null for a default

  bool set() const { return data.index() != 0; }
  /// Of an unset value: false, 0, empty.
  bool boolean() const { return get_or_empty<bool>(); }
  int64_t integer() const { return get_or_empty<int64_t>(); }
  double real() const { return get_or_empty<double>(); }
  const std::string& text() const { return get_or_empty<std::string>(); }
  const std::vector<int64_t>& integers() const { return get_or_empty<std::vector<int64_t>>(); }
  const std::vector<std::string>& texts() const { return get_or_empty<std::vector<std::string>>(); }
  const StringPairs& pairs() const { return get_or_empty<StringPairs>(); }
  /// Where it is written; no place for a default.
  Span span() const { return written != nullptr ? written->span : Span{}; }

 private:
  template <typename T>
  const T& get_or_empty() const {
    static const T kEmpty{};
    const T* found = std::get_if<T>(&data);
    return found != nullptr ? *found : kEmpty;
  }
};

/// A table of the experiment file with its rows; the name is for messages and suggestions.
struct TableSchema {
  std::string_view name;
  std::span<const Option> options;
  std::string_view doc = {};
};

/// What validation needs to know of one table.
struct TableScope {
  std::string name;              ///< "time", "link.default": as between the brackets
  const Value* table = nullptr;  ///< null where the file has none: defaults only
  std::string folder;            ///< absolute; relative paths start here
  /// Names of tables inside this one, which are validated by themselves.
  std::span<const std::string_view> subtables = {};
  /// For "'sandbox' belongs in [parallel]".
  std::span<const TableSchema> all_tables = {};
};

/// `path` as it is seen from `folder` (absolute), without "." and ".." and without looking at the
/// file system.
std::string absolute_path(const std::string& folder, std::string_view path);

/// Checks a table against its rows and adds every mistake to `diagnostics`. Returns one value per
/// row, in the order of the rows; what is missing or wrong is unset. An absent table with required
/// keys is the caller's to report.
std::vector<OptionValue> validate_options(const TableScope& scope, std::span<const Option> options,
                                          Diagnostics& diagnostics);

/// Whether every default is a value that its own row accepts; the name of the first that is not.
std::optional<std::string> find_bad_default(std::span<const Option> options);

/// A value as canonical TOML: "25 us", 16, "/abs/path". Empty for an unset one.
std::string write_option(const Option& option, const OptionValue& value);

}  // namespace prism::config
