// SPDX-License-Identifier: Apache-2.0
#include "core/config/value.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace prism::config {

const Value* Table::find(std::string_view key) const {
  for (const Member& member : members) {
    if (member.key == key) {
      return &member.value;
    }
  }
  return nullptr;
}

Value* Table::find(std::string_view key) {
  return const_cast<Value*>(std::as_const(*this).find(key));
}

std::string_view Value::kind() const {
  static constexpr std::array<std::string_view, 7> kNames = {
      "boolean", "integer", "float", "string", "list", "table", "date"};
  return kNames[data.index()];
}

std::string quote(std::string_view text) {
  static constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string write_key(std::string_view key) {
  bool bare = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
  return bare ? std::string(key) : quote(key);
}

std::string write_float(double number) {
  if (!std::isfinite(number)) {
    return std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
  }
  std::array<char, 64> buffer{};
  auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  std::string text(buffer.data(), end);
  if (text.find_first_of(".e") == std::string::npos) {
    text += ".0";
  }
  return text;
}

namespace {

struct Writer {
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(int64_t v) const { return std::to_string(v); }
  std::string operator()(double v) const { return write_float(v); }
  std::string operator()(const std::string& v) const { return quote(v); }
  std::string operator()(const List& list) const {
    std::string out = "[";
    for (const Value& item : list) {
      out += (out.size() > 1 ? ", " : "") + write_toml(item);
    }
    return out + "]";
  }
  std::string operator()(const Table& table) const {
    std::string out = "{";
    for (const Member& member : table.members) {
      out += out.size() > 1 ? ", " : " ";
      out += write_key(member.key) + " = " + write_toml(member.value);
    }
    return out + (out.size() > 1 ? " }" : "}");
  }
  std::string operator()(const Date&) const { return "\"(date)\""; }
};

}  // namespace

std::string write_toml(const Value& value) {
  return std::visit(Writer{}, value.data);
}

}  // namespace prism::config
