// SPDX-License-Identifier: Apache-2.0
/// Text to Value tree, through toml++ (which only toml_reader.cpp sees).
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <variant>

#include "core/config/diagnostics.hpp"
#include "core/config/source.hpp"
#include "core/config/value.hpp"

namespace prism::config {

/// A file and what it says.
struct Document {
  std::shared_ptr<const Source> source;
  Value root;  ///< a table
};

/// Reads a file of at most kMaxFileBytes. Only regular files: nothing that could block.
/// Exactly one diagnostic when it cannot be read or is not valid UTF-8.
std::variant<std::shared_ptr<const Source>, Diagnostics> read_source(const std::string& path);

/// Parses; members come in the order of the file. Exactly one diagnostic when it is not TOML or is
/// nested deeper than kMaxDepth.
std::variant<Value, Diagnostics> parse_toml(const std::shared_ptr<const Source>& source);

/// A single value such as `5` or `"cpu"`, without places; nothing when it is not exactly one.
std::optional<Value> parse_toml_value(std::string_view text, Origin origin);

}  // namespace prism::config
