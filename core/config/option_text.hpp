// SPDX-License-Identifier: Apache-2.0
/// Rows of option tables in words, for people.
#pragma once

#include <optional>
#include <string>

#include "core/config/option_table.hpp"

namespace prism::config {

/// "int", "list of int", "duration".
std::string type_text(OptionType type);

/// A value that the bounds or choices of an option show to be valid, as written in TOML.
std::optional<std::string> value_within(const Option& option);

/// "0 to 8", ">= 1", "\"fast\" or \"exact\"": as written in TOML. Empty when every value of the
/// type will do.
std::string range_text(const Option& option);

/// A bound or value of a numeric option as TOML: "25 us" for a duration.
std::string number_text(const Option& option, int64_t value);
std::string number_text(const Option& option, double value);

}  // namespace prism::config
