// SPDX-License-Identifier: Apache-2.0
/// "{rank}" inside arguments. Only braces right around a name are a placeholder, so that JSON and
/// shell text in an argument stay what they are.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace prism::config {

/// One "{name}" or "{{name}}" in a text.
struct Placeholder {
  size_t begin = 0;
  size_t end = 0;
  std::string_view name;
  bool escaped = false;  ///< {{name}}: stands for {name}
};

/// The first at or after `from`.
std::optional<Placeholder> find_placeholder(std::string_view text, size_t from);

}  // namespace prism::config
