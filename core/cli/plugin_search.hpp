// SPDX-License-Identifier: Apache-2.0
/// Where the commands look for plugins.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/cli/arguments.hpp"
#include "core/plugin/search_path.hpp"

namespace prism::cli {

/// `own` and the flags --plugin, --plugin-path and --allow-insecure-plugin-dir.
std::vector<Flag> with_search_flags(std::vector<Flag> own);

/// What these flags and the environment say. `overrides`: [plugins.path] of the experiment file.
/// Errors (Domain::Config): a flag names what is not there.
Result<plugin::SearchPath> search_path(
    const Arguments& arguments, std::vector<std::pair<std::string, std::string>> overrides = {});

/// The plugin that the user means: by id in the search path, or by its folder or library when the
/// word has a '/'. Its state may be any but Shadowed. Errors: there is none.
Result<plugin::Candidate> find_plugin(const std::string& id_or_path,
                                      const plugin::SearchPath& path);

}  // namespace prism::cli
