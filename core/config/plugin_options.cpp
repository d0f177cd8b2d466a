// SPDX-License-Identifier: Apache-2.0
#include "core/config/plugin_options.hpp"

#include <array>
#include <filesystem>

#include "core/base/text.hpp"

namespace prism::config {
namespace {

constexpr uint64_t kMaxRows = 1024;
constexpr uint64_t kMaxStride = 4096;

std::string_view view(const prism_str_t& text) {
  return text.len == 0 ? std::string_view() : std::string_view(text.ptr, text.len);
}

std::optional<OptionType> option_type(int32_t type) {
  switch (type) {
    case PRISM_OPTION_BOOL:
      return OptionType::Bool;
    case PRISM_OPTION_INT:
      return OptionType::Int;
    case PRISM_OPTION_FLOAT:
      return OptionType::Float;
    case PRISM_OPTION_STRING:
      return OptionType::String;
    case PRISM_OPTION_DURATION:
      return OptionType::Duration;
    case PRISM_OPTION_BYTES:
      return OptionType::Bytes;
    case PRISM_OPTION_PATH:
      return OptionType::Path;
    default:
      return std::nullopt;
  }
}

Status convert_rows(std::string_view id, const prism_option_table_t& table, OptionRows& rows) {
  auto refuse = [&](const std::string& what) {
    return plugin_error("plugin '" + printable(id) + "': its table of options is wrong: " + what);
  };
  if (table.count == 0) {
    return {};
  }
  if (table.rows == nullptr || table.count > kMaxRows || table.stride < PRISM_OPTION_SIZE_1_0 ||
      table.stride > kMaxStride || table.stride % alignof(prism_option_t) != 0) {
    return refuse(std::to_string(table.count) + " rows of " + std::to_string(table.stride) +
                  " bytes (at most " + std::to_string(kMaxRows) + " rows of " +
                  std::to_string(PRISM_OPTION_SIZE_1_0) + " to " + std::to_string(kMaxStride) +
                  " bytes)");
  }
  rows.choices.reserve(table.count);
  const auto* bytes = reinterpret_cast<const char*>(table.rows);
  for (uint64_t i = 0; i < table.count; ++i) {
    const auto& row = *reinterpret_cast<const prism_option_t*>(bytes + i * table.stride);
    std::string which = "row " + std::to_string(i);
    if (row.name.ptr == nullptr || row.name.len == 0) {
      return refuse(which + " has no name");
    }
    which += " ('" + printable(view(row.name)) + "')";
    auto type = option_type(row.type);
    if (!type) {
      return refuse(which + " has the unknown type " + std::to_string(row.type));
    }
    if (row.choice_count > kMaxRows || (row.choice_count > 0 && row.choices == nullptr)) {
      return refuse(which + " has " + std::to_string(row.choice_count) + " choices");
    }
    auto& choices = rows.choices.emplace_back();
    for (uint64_t k = 0; k < row.choice_count; ++k) {
      choices.push_back(view(row.choices[k]));
    }
    const bool bounded = row.min != 0 || row.max != 0;
    const bool real_bounded = row.real_min != 0 || row.real_max != 0;
    // Times and sizes below 0 are not written in any way.
    rows.options.push_back({.name = view(row.name),
                            .type = *type,
                            .default_text = view(row.default_text),
                            .required = row.required != 0,
                            .min = bounded ? row.min : kNoMin,
                            .max = bounded ? row.max : kNoMax,
                            .real_min = real_bounded ? row.real_min : -kNoRealBound,
                            .real_max = real_bounded ? row.real_max : kNoRealBound,
                            .choices = choices,
                            .doc = view(row.doc)});
    rows.abi_types.push_back(row.type);
  }
  if (auto bad = find_bad_default(rows.options)) {
    return refuse("the default of '" + printable(*bad) + "' is not a value that it accepts");
  }
  return {};
}

const Value* find_options(const Experiment& experiment, std::string_view id) {
  const Value* at = &experiment.document->root;
  for (std::string_view key : {std::string_view("plugins"), std::string_view("options"), id}) {
    at = at != nullptr && at->table() != nullptr ? at->table()->find(key) : nullptr;
  }
  return at;
}

/// What is written in `scope`, whose folder is set here, for the plugin `id`.
Result<PluginOptions> validate(const Experiment& experiment, std::string_view id, TableScope scope,
                               const prism_option_table_t& table, Diagnostics& diagnostics) {
  OptionRows rows;
  PRISM_TRY(convert_rows(id, table, rows));
  std::error_code error;
  std::filesystem::path file = std::filesystem::absolute(experiment.file, error);
  scope.folder = file.parent_path().string();
  size_t before = diagnostics.total();
  auto values = validate_options(scope, rows.options, diagnostics);
  if (diagnostics.total() > before) {
    return diagnostics.status();
  }
  return PluginOptions(std::move(values), rows.abi_types);
}

}  // namespace

Result<OptionRows> read_option_rows(std::string_view id, const prism_option_table_t& table) {
  OptionRows rows;
  PRISM_TRY(convert_rows(id, table, rows));
  return rows;
}

PluginOptions::PluginOptions(std::vector<OptionValue> values, const std::vector<int32_t>& abi_types)
    : values_(std::move(values)) {
  for (size_t i = 0; i < values_.size(); ++i) {
    const OptionValue& value = values_[i];
    prism_option_value_t out{};
    out.type = abi_types[i];
    out.set = value.set() ? 1 : 0;
    switch (out.type) {
      case PRISM_OPTION_BOOL:
        out.u.boolean = value.boolean() ? 1 : 0;
        break;
      case PRISM_OPTION_FLOAT:
        out.u.real = value.real();
        break;
      case PRISM_OPTION_STRING:
      case PRISM_OPTION_PATH:
        out.u.text = {value.text().data(), value.text().size()};
        break;
      default:
        out.u.integer = value.integer();
    }
    abi_.push_back(out);
  }
}

Result<PluginOptions> validate_plugin_options(const Experiment& experiment, std::string_view id,
                                              const prism_option_table_t& table,
                                              Diagnostics& diagnostics) {
  const Value* written = find_options(experiment, id);
  // A table that is not there cannot be pointed at, but what it must have is missing all the same.
  Value absent;
  absent.data = Table{};
  TableScope scope;
  scope.name = "plugins.options." + write_key(id);
  scope.table = written != nullptr ? written : &absent;
  return validate(experiment, id, std::move(scope), table, diagnostics);
}

Result<PluginOptions> validate_source_options(const Experiment& experiment, const CollectRule& rule,
                                              const prism_option_table_t& table,
                                              Diagnostics& diagnostics) {
  static constexpr std::array<std::string_view, 1> kNoOption = {"id"};
  TableScope scope;
  scope.name = "collect.rule.source";
  scope.table = rule.options;
  scope.subtables = kNoOption;
  return validate(experiment, rule.source, std::move(scope), table, diagnostics);
}

std::vector<std::string_view> plugin_option_ids(const Experiment& experiment) {
  std::vector<std::string_view> ids;
  const Value* at = &experiment.document->root;
  for (const std::string_view key : {"plugins", "options"}) {
    at = at != nullptr && at->table() != nullptr ? at->table()->find(key) : nullptr;
  }
  if (at != nullptr && at->table() != nullptr) {
    for (const Member& member : at->table()->members) {
      ids.push_back(member.key);
    }
  }
  return ids;
}

}  // namespace prism::config
