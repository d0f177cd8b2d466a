// SPDX-License-Identifier: Apache-2.0
/// "Did you mean ...?"
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace prism::config {

/// Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours,
/// in bytes. Anything above `limit` is given as limit + 1.
size_t edit_distance(std::string_view a, std::string_view b, size_t limit);

/// The candidate nearest to `word` within max(1, length / 3) edits; empty when none is. The first
/// of equally near ones.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

/// "did you mean 'x'?", or "choose from a, b" with at most 9 choices, or nothing.
std::string suggestion(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace prism::config
