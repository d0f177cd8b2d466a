// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace prism::schedule {

/// The last lines of a log, for a message; empty when it cannot be read.
std::string log_tail(const std::string& path, size_t max_lines);
/// Every line four spaces to the right.
std::string indent(const std::string& text);

}  // namespace prism::schedule
