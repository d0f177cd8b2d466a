// SPDX-License-Identifier: Apache-2.0
/// A light pass over the text of a TOML file that finds where keys and tables are written. It does
/// what toml++ does not: bound the nesting before anything recurses, and tell where something that
/// is defined twice was first defined. It judges nothing: what is not TOML is skipped line by line
/// and left to the parser.
#pragma once

#include <optional>
#include <string>

#include "core/config/diagnostics.hpp"
#include "core/config/source.hpp"

namespace prism::config {

/// Header parts, key parts and brackets around a value together.
inline constexpr size_t kMaxDepth = 64;

/// The first place that is nested deeper than kMaxDepth.
std::optional<Span> find_too_deep(const Source& source);

/// For a header (or a key) at or right before `error` that the parser refused as a redefinition:
/// how it is written, and notes that say where it was defined first. Nothing when it cannot be
/// found.
struct Redefinition {
  Span span;
  std::vector<Note> notes;
};
std::optional<Redefinition> explain_redefinition(const Source& source, const Position& error,
                                                 bool header);

}  // namespace prism::config
