// SPDX-License-Identifier: Apache-2.0
#include "core/config/option_table.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/text.hpp"
#include "core/config/quantity.hpp"
#include "core/config/suggest.hpp"
#include "core/config/toml_reader.hpp"

namespace prism::config {
namespace {

constexpr size_t kMaxNotes = 3;

std::optional<Quantity> quantity_of(OptionType type) {
  switch (type) {
    case OptionType::Duration:
      return Quantity::Duration;
    case OptionType::Bytes:
      return Quantity::Bytes;
    case OptionType::Bandwidth:
      return Quantity::Bandwidth;
    default:
      return std::nullopt;
  }
}

/// "an integer", "a duration such as ...": what a row wants.
std::string expected(OptionType type) {
  switch (type) {
    case OptionType::Bool:
      return "true or false";
    case OptionType::Int:
      return "an integer";
    case OptionType::Float:
      return "a finite number";
    case OptionType::String:
      return "a string";
    case OptionType::Path:
      return "a path (a string)";
    case OptionType::IntList:
      return "a list of integers";
    case OptionType::StringList:
      return "a list of strings";
    case OptionType::PathList:
      return "a list of paths (strings)";
    case OptionType::StringTable:
      return "a table of strings such as { NAME = \"value\" }";
    case OptionType::StringOrList:
      return "a string or a list of strings";
    case OptionType::RankList:
      return "a text such as \"0-7,9\" or a list of integers";
    case OptionType::Duration:
    case OptionType::Bytes:
    case OptionType::Bandwidth:
      break;
  }
  return std::string(quantity_example(*quantity_of(type)));
}

class Validator {
 public:
  Validator(const TableScope& scope, const Option& option, Diagnostics& diagnostics)
      : scope_(scope), option_(option), diagnostics_(diagnostics) {}

  /// Unset when wrong; then something was added.
  OptionValue read(const Value& value) {
    OptionValue out;
    out.origin = value.origin;
    out.written = value.origin == Origin::Default ? nullptr : &value;
    switch (option_.type) {
      case OptionType::Bool:
        if (const bool* v = std::get_if<bool>(&value.data)) {
          out.data = *v;
        } else {
          wrong_type(value);
        }
        break;
      case OptionType::Int:
        if (const int64_t* v = value.integer(); v == nullptr) {
          wrong_type(value);
        } else if (in_bounds(*v, value.span, value.origin)) {
          out.data = *v;
        }
        break;
      case OptionType::Float:
        read_float(value, out);
        break;
      case OptionType::String:
        if (const std::string* v = value.string(); v == nullptr) {
          wrong_type(value);
        } else if (is_clean(value) && is_choice(value)) {
          out.data = *v;
        }
        break;
      case OptionType::Duration:
      case OptionType::Bytes:
      case OptionType::Bandwidth:
        read_quantity(value, out);
        break;
      case OptionType::Path:
        if (value.string() == nullptr) {
          wrong_type(value);
        } else if (is_path(value)) {
          out.data = absolute(*value.string());
        }
        break;
      case OptionType::IntList:
        read_integers(value, out);
        break;
      case OptionType::StringList:
      case OptionType::PathList:
        read_strings(value, out);
        break;
      case OptionType::StringTable:
        read_pairs(value, out);
        break;
      case OptionType::StringOrList:
        if (value.string() != nullptr) {
          if (is_clean(value)) {
            out.data = *value.string();
          }
        } else {
          read_strings(value, out);
        }
        break;
      case OptionType::RankList:
        if (value.string() == nullptr) {
          read_integers(value, out);
        } else if (is_clean(value)) {
          out.data = *value.string();
        }
        break;
    }
    return out;
  }

 private:
  std::string where() const { return "'" + printable(option_.name) + "' in [" + scope_.name + "]"; }

  void error(ErrorCode code, const Span& span, Origin origin, std::string message,
             std::string hint = {}, std::vector<Note> notes = {}) {
    diagnostics_.add({code, span, std::move(message), std::move(hint), std::move(notes), origin});
  }

  /// "the float 1e3": as it is written where it is short.
  std::string found(const Value& value) const {
    std::string kind(value.kind());
    if (value.list() != nullptr || value.table() != nullptr || std::get_if<Date>(&value.data)) {
      return "a " + kind;
    }
    std::string_view raw = diagnostics_.written(value);
    return "the " + kind + " " + printable(raw.empty() ? write_toml(value) : raw, 40);
  }

  void wrong_type(const Value& value) {
    std::string hint;
    bool scalar = value.integer() != nullptr || std::get_if<double>(&value.data) != nullptr;
    if (option_.type == OptionType::StringTable || option_.type == OptionType::StringList) {
      hint = "";
    } else if (option_.type == OptionType::String && scalar) {
      hint = "write it in quotes";
    }
    error(ErrorCode::Type, value.span, value.origin,
          where() + " must be " + expected(option_.type) + ", not " + found(value), hint);
  }

  std::string bound(int64_t number) const {
    auto quantity = quantity_of(option_.type);
    return quantity ? format_quantity(*quantity, number) : std::to_string(number);
  }

  bool in_bounds(int64_t number, const Span& span, Origin origin) {
    if (number >= option_.min && number <= option_.max) {
      return true;
    }
    std::string range = option_.max == kNoMax ? "at least " + bound(option_.min)
                        : option_.min == kNoMin
                            ? "at most " + bound(option_.max)
                            : "between " + bound(option_.min) + " and " + bound(option_.max);
    bool element = option_.type == OptionType::IntList || option_.type == OptionType::RankList;
    error(ErrorCode::Range, span, origin,
          (element ? "each of " : "") + where() + " must be " + range + ", not " + bound(number));
    return false;
  }

  void keep_in_bounds(double number, const Value& value, OptionValue& out) {
    if (number >= option_.real_min && number <= option_.real_max) {
      out.data = number;
      return;
    }
    const std::string min = write_float(option_.real_min);
    const std::string max = write_float(option_.real_max);
    const std::string range = option_.real_max == kNoRealBound ? "at least " + min
                              : option_.real_min == -kNoRealBound
                                  ? "at most " + max
                                  : "between " + min + " and " + max;
    error(ErrorCode::Range, value.span, value.origin,
          where() + " must be " + range + ", not " + write_float(number));
  }

  void read_float(const Value& value, OptionValue& out) {
    constexpr int64_t kExact = int64_t{1} << 53;
    const double* real = std::get_if<double>(&value.data);
    const int64_t* integer = value.integer();
    if (real != nullptr && std::isfinite(*real)) {
      keep_in_bounds(*real, value, out);
    } else if (integer != nullptr && *integer >= -kExact && *integer <= kExact) {
      keep_in_bounds(static_cast<double>(*integer), value, out);
    } else if (integer != nullptr) {
      error(ErrorCode::Range, value.span, value.origin,
            where() + " must be between -2^53 and 2^53 when written as an integer, not " +
                std::to_string(*integer));
    } else {
      wrong_type(value);
    }
  }

  void read_quantity(const Value& value, OptionValue& out) {
    const std::string* text = value.string();
    if (text == nullptr) {
      wrong_type(value);
      return;
    }
    auto parsed = parse_quantity(*quantity_of(option_.type), *text);
    if (auto* problem = std::get_if<QuantityProblem>(&parsed)) {
      error(problem->code, diagnostics_.inside(value, problem->begin, problem->end), value.origin,
            where() + ": " + problem->message, problem->hint);
      return;
    }
    int64_t number = std::get<int64_t>(parsed);
    if (in_bounds(number, value.span, value.origin)) {
      out.data = number;
    }
  }

  /// A character U+0000 would end the text where it meets the operating system.
  bool is_clean(const Value& value) {
    if (value.string()->find('\0') == std::string::npos) {
      return true;
    }
    error(ErrorCode::Text, value.span, value.origin,
          where() + " must not contain the character U+0000");
    return false;
  }

  bool is_path(const Value& value) {
    if (value.string()->empty()) {
      error(ErrorCode::Text, value.span, value.origin, where() + " must not be an empty path");
      return false;
    }
    return is_clean(value);
  }

  std::string absolute(const std::string& path) const { return absolute_path(scope_.folder, path); }

  bool is_choice(const Value& value) {
    const std::string& text = *value.string();
    if (option_.choices.empty() ||
        std::find(option_.choices.begin(), option_.choices.end(), text) != option_.choices.end()) {
      return true;
    }
    error(ErrorCode::Choice, value.span, value.origin,
          "\"" + printable(text) + "\" is not a value of " + where(),
          suggestion(text, option_.choices));
    return false;
  }

  /// One error for all elements of a wrong type: at the first, the next ones as notes.
  template <typename Good>
  bool check_elements(const List& list, std::string_view wanted, Good good) {
    std::vector<const Value*> bad;
    for (const Value& item : list) {
      if (!good(item) && bad.size() <= kMaxNotes) {
        bad.push_back(&item);
      }
    }
    if (bad.empty()) {
      return true;
    }
    std::vector<Note> notes;
    for (size_t i = 1; i < bad.size(); ++i) {
      notes.push_back({bad[i]->span, "and " + found(*bad[i]), bad[i]->origin});
    }
    error(ErrorCode::Type, bad[0]->span, bad[0]->origin,
          "each element of " + where() + " must be " + std::string(wanted) + ", not " +
              found(*bad[0]),
          {}, std::move(notes));
    return false;
  }

  void read_integers(const Value& value, OptionValue& out) {
    const List* list = value.list();
    if (list == nullptr) {
      wrong_type(value);
      return;
    }
    if (!check_elements(*list, "an integer",
                        [](const Value& item) { return item.integer() != nullptr; })) {
      return;
    }
    std::vector<int64_t> integers;
    bool good = true;
    for (const Value& item : *list) {
      good = in_bounds(*item.integer(), item.span, item.origin) && good;
      integers.push_back(*item.integer());
    }
    if (good) {
      out.data = std::move(integers);
    }
  }

  void read_strings(const Value& value, OptionValue& out) {
    const List* list = value.list();
    if (list == nullptr) {
      wrong_type(value);
      return;
    }
    if (!check_elements(*list, "a string",
                        [](const Value& item) { return item.string() != nullptr; })) {
      return;
    }
    std::vector<std::string> texts;
    bool good = true;
    for (const Value& item : *list) {
      bool path = option_.type == OptionType::PathList;
      good = (path ? is_path(item) : is_clean(item)) && good;
      texts.push_back(path ? absolute(*item.string()) : *item.string());
    }
    if (good) {
      out.data = std::move(texts);
    }
  }

  void read_pairs(const Value& value, OptionValue& out) {
    const Table* table = value.table();
    if (table == nullptr) {
      wrong_type(value);
      return;
    }
    StringPairs pairs;
    bool good = true;
    for (const Member& member : table->members) {
      const std::string* text = member.value.string();
      std::string name = "'" + printable(member.key) + "' in [" + scope_.name + "." +
                         std::string(option_.name) + "]";
      if (text == nullptr) {
        error(ErrorCode::Type, member.value.span, member.value.origin,
              name + " must be a string, not " + found(member.value), "write it in quotes");
        good = false;
      } else {
        good = is_clean(member.value) && good;
        pairs.emplace_back(member.key, *text);
      }
    }
    if (good) {
      out.data = std::move(pairs);
    }
  }

  const TableScope& scope_;
  const Option& option_;
  Diagnostics& diagnostics_;
};

void report_unknown_key(const TableScope& scope, std::span<const Option> options,
                        const Member& member, Diagnostics& diagnostics) {
  Diagnostic d;
  d.code = ErrorCode::UnknownKey;
  d.span = member.key_span;
  d.origin = member.value.origin;
  d.message = "unknown key '" + printable(member.key) + "' in [" + scope.name + "]";
  if (!diagnostics.wants(d.span.begin)) {
    diagnostics.add(std::move(d));
    return;
  }
  for (const TableSchema& other : scope.all_tables) {
    auto row = std::find_if(other.options.begin(), other.options.end(),
                            [&](const Option& option) { return option.name == member.key; });
    if (row != other.options.end() && other.name != scope.name) {
      d.hint = "'" + member.key + "' belongs in [" + std::string(other.name) + "]";
      break;
    }
  }
  if (d.hint.empty()) {
    std::vector<std::string_view> names;
    for (const Option& option : options) {
      names.push_back(option.name);
    }
    names.insert(names.end(), scope.subtables.begin(), scope.subtables.end());
    d.hint = suggestion(member.key, names);
  }
  diagnostics.add(std::move(d));
}

}  // namespace

std::string absolute_path(const std::string& folder, std::string_view path) {
  std::string out = (std::filesystem::path(folder) / path).lexically_normal().string();
  while (out.size() > 1 && out.back() == '/') {
    out.pop_back();
  }
  return out;
}

std::vector<OptionValue> validate_options(const TableScope& scope, std::span<const Option> options,
                                          Diagnostics& diagnostics) {
  const Table* table = scope.table != nullptr ? scope.table->table() : nullptr;
  std::vector<OptionValue> values;
  for (const Option& option : options) {
    const Value* written = table != nullptr ? table->find(option.name) : nullptr;
    OptionValue value;
    if (written != nullptr) {
      value = Validator(scope, option, diagnostics).read(*written);
    } else if (!option.default_text.empty()) {
      auto fallback = parse_toml_value(option.default_text, Origin::Default);
      if (fallback) {
        value = Validator(scope, option, diagnostics).read(*fallback);
      }
    } else if (option.required && table != nullptr) {
      diagnostics.add(
          {ErrorCode::MissingKey,
           scope.table->span,
           "missing required key '" + std::string(option.name) + "' in [" + scope.name + "]",
           "expected " + expected(option.type),
           {},
           scope.table->origin});
    }
    values.push_back(std::move(value));
  }
  if (table == nullptr) {
    return values;
  }
  for (const Member& member : table->members) {
    bool known = std::any_of(options.begin(), options.end(),
                             [&](const Option& option) { return option.name == member.key; }) ||
                 std::find(scope.subtables.begin(), scope.subtables.end(), member.key) !=
                     scope.subtables.end();
    if (!known) {
      report_unknown_key(scope, options, member, diagnostics);
    }
  }
  return values;
}

std::optional<std::string> find_bad_default(std::span<const Option> options) {
  TableScope scope{"defaults", nullptr, "/", {}, {}};
  for (const Option& option : options) {
    Diagnostics diagnostics("");
    auto values = validate_options(scope, {&option, 1}, diagnostics);
    if (!option.default_text.empty() && !values[0].set()) {
      return std::string(option.name);
    }
  }
  return std::nullopt;
}

std::string write_option(const Option& option, const OptionValue& value) {
  struct Writer {
    OptionType type;
    std::string operator()(std::monostate) const { return {}; }
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(int64_t v) const {
      auto quantity = quantity_of(type);
      return quantity ? quote(format_quantity(*quantity, v)) : std::to_string(v);
    }
    std::string operator()(double v) const { return write_float(v); }
    std::string operator()(const std::string& v) const { return quote(v); }
    std::string operator()(const std::vector<int64_t>& list) const {
      std::string out = "[";
      for (int64_t v : list) {
        out += (out.size() > 1 ? ", " : "") + std::to_string(v);
      }
      return out + "]";
    }
    std::string operator()(const std::vector<std::string>& list) const {
      std::string out = "[";
      for (const std::string& v : list) {
        out += (out.size() > 1 ? ", " : "") + quote(v);
      }
      return out + "]";
    }
    std::string operator()(const StringPairs& pairs) const {
      std::string out = "{";
      for (const auto& [key, v] : pairs) {
        out += (out.size() > 1 ? ", " : " ") + write_key(key) + " = " + quote(v);
      }
      return out + (out.size() > 1 ? " }" : "}");
    }
  };
  return std::visit(Writer{option.type}, value.data);
}

}  // namespace prism::config
