// SPDX-License-Identifier: Apache-2.0
/// Classes of ranks that run the same program (architecture 5): from what `classes` in [parallel]
/// says to lists of ranks.
///
///   "all"                 one class of every rank
///   "none"                every rank is its own class
///   ["0-7", "8,16-23"]    one class per string; "0-56:8" counts in steps of 8
///   "rank // 8"           ranks of equal value form a class
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/config/codes.hpp"

namespace prism::config {

/// As written: one string, or a list of range strings.
struct ClassSpec {
  std::vector<std::string> items;
  bool is_list = false;
};

/// Order matters: the i-th members of all classes form replica i. In a list, ranks stay in the
/// order in which they are written; else they ascend, and classes are ordered by their first rank.
using Classes = std::vector<std::vector<Rank>>;

/// Bytes [begin, end) of an item.
struct ClassPlace {
  size_t item = 0;
  size_t begin = 0;
  size_t end = 0;
};

struct ClassProblem {
  ErrorCode code = ErrorCode::ClassSyntax;
  std::string message;
  std::string hint;
  std::optional<ClassPlace> place;  ///< none: the specification as a whole
  std::optional<ClassPlace> other;  ///< the second place, of an overlap
  std::string other_message;
  bool beyond_world = false;  ///< a rank that world_size does not have
};

/// Every rank below `world_size` in exactly one class, or nothing and at least one problem.
/// Time and memory grow with world_size and the text, not with what the numbers in it claim.
std::optional<Classes> resolve_classes(const ClassSpec& spec, uint32_t world_size,
                                       std::vector<ClassProblem>& problems);

/// The ranks of one text such as "0-7,9", each once, in the order in which they are written; or
/// nothing and one problem, whose place has item 0.
std::optional<std::vector<Rank>> resolve_ranks(const std::string& text, uint32_t world_size,
                                               std::vector<ClassProblem>& problems);

}  // namespace prism::config
