// SPDX-License-Identifier: Apache-2.0
/// One line of a CSV in its fields, by RFC 4180 less the line ends inside quotes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace prism::microbatch {

/// Splits `line` into `fields`, whose strings are used again. False: a quote that does not end.
bool split_row(std::string_view line, std::vector<std::string>& fields);

}  // namespace prism::microbatch
