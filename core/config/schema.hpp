// SPDX-License-Identifier: Apache-2.0
/// The tables of the experiment file, row by row: what `config check` validates and what the
/// reference page prints.
#pragma once

#include <array>
#include <span>

#include "core/config/option_table.hpp"

namespace prism::config {

inline constexpr int64_t kMaxWorldSize = int64_t{1} << 20;

/// All tables; "link.NAME" and "verify.N" stand for any number of tables.
std::span<const TableSchema> experiment_schema();
/// The rows of one of them, by the name in experiment_schema().
std::span<const Option> schema_rows(std::string_view table);

}  // namespace prism::config
