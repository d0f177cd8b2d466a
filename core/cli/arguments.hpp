// SPDX-License-Identifier: Apache-2.0
/// Command lines of the commands. Backed by Boost.Program_options, which only arguments.cpp sees.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/status.hpp"

namespace prism::cli {

struct Flag {
  std::string name;   ///< without "--"
  std::string value;  ///< what stands for the value in the help; empty: the flag takes none
  std::string doc;
  bool repeatable = false;  ///< only of one with a value
};

/// What a command understands.
struct Usage {
  std::string command;   ///< "prism run"
  std::string synopsis;  ///< what follows: "EXPERIMENT [options]"
  std::string summary;
  std::vector<std::string> positional;  ///< names; all required
  std::vector<Flag> flags;              ///< "help" is always there
  std::string more;                     ///< printed at the end of the help; may be empty
  std::string rest = {};  ///< name of the words after those, at least one; empty: none
};

struct Arguments {
  std::map<std::string, std::string> values;  ///< flags given ("" without value) and positionals
  std::map<std::string, std::vector<std::string>> lists;  ///< repeatable flags given, and `rest`
  /// Repeatable flags with their values, as they follow each other on the command line.
  std::vector<std::pair<std::string, std::string>> in_order;
  bool has(const std::string& name) const { return values.count(name) != 0; }
  const std::string& at(const std::string& name) const { return values.at(name); }
  /// The values of a repeatable flag, in the order of the command line; none when it is not given.
  std::vector<std::string> all(const std::string& name) const {
    const auto found = lists.find(name);
    return found == lists.end() ? std::vector<std::string>() : found->second;
  }
  bool help = false;
};

/// Errors (Domain::Config): unknown flag with a suggestion, missing or surplus words; each says how
/// to see the help.
Result<Arguments> parse_arguments(const Usage& usage, const std::vector<std::string>& words);
std::string help_text(const Usage& usage);

/// A whole number of a flag, with its bounds in the message.
Result<int64_t> integer_value(const Arguments& arguments, const std::string& flag, int64_t min,
                              int64_t max);

}  // namespace prism::cli
