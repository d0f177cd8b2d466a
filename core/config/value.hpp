// SPDX-License-Identifier: Apache-2.0
/// The content of an experiment file with the place of every key and value. Nothing of toml++ is
/// visible here; toml_reader.cpp converts.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace prism::config {

/// Line and column from 1, columns in code points (a tab is one). Line 0: no place in the file.
struct Position {
  uint32_t line = 0;
  uint32_t column = 0;
  auto operator<=>(const Position&) const = default;
};

/// From `begin` up to, not including, `end`.
struct Span {
  Position begin;
  Position end;
};

/// Where a value comes from.
enum class Origin : uint8_t { Default, File, CommandLine };

struct Value;
struct Member;

using List = std::vector<Value>;

/// Members in the order of the file.
struct Table {
  std::vector<Member> members;

  const Value* find(std::string_view key) const;
  Value* find(std::string_view key);
};

/// A date, a time or both: no option takes one.
struct Date {};

struct Value {
  std::variant<bool, int64_t, double, std::string, List, Table, Date> data;
  Span span;  ///< of a table: its header, or the whole inline table
  Origin origin = Origin::File;

  const Table* table() const { return std::get_if<Table>(&data); }
  const List* list() const { return std::get_if<List>(&data); }
  const std::string* string() const { return std::get_if<std::string>(&data); }
  const int64_t* integer() const { return std::get_if<int64_t>(&data); }
  /// "integer", "list", ...
  std::string_view kind() const;
};

struct Member {
  std::string key;
  Span key_span;
  Value value;
};

/// `text` as a TOML string with its quotes; control characters are escaped.
std::string quote(std::string_view text);
/// A key as TOML writes it: bare where possible, else quoted.
std::string write_key(std::string_view key);
/// Any value on one line; tables become inline tables.
std::string write_toml(const Value& value);
/// The shortest text that reads back as the same finite number, always with "." or "e".
std::string write_float(double number);

}  // namespace prism::config
