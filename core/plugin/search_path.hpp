// SPDX-License-Identifier: Apache-2.0
/// The usual search path of plugins, in the order in which it is searched: what the command line
/// and the experiment file name, PRISM_PLUGIN_PATH, the user's own plugins, the program's own.
#pragma once

#include <string>
#include <vector>

#include "core/base/status.hpp"
#include "core/plugin/discovery.hpp"

namespace prism::plugin {

/// Folders of PRISM_PLUGIN_PATH, a list with colons. Entries that are not absolute, empty ones
/// included, are left out with a warning: they would mean whatever folder somebody is in.
std::vector<std::string> environment_roots();

/// $XDG_DATA_HOME/prism/plugins/abi-1, by default in ~/.local/share; none without a home.
std::vector<std::string> user_roots();

/// The plugin folder that belongs to the running program, in its build tree or where it is
/// installed: bin/../lib/prism/plugins/abi-1 in both.
std::vector<std::string> standard_roots();

/// environment_roots, user_roots and standard_roots, in this order.
std::vector<std::string> usual_roots();

/// Each folder once, however often and through whichever links it is named: where it comes first.
std::vector<std::string> distinct_folders(const std::vector<std::string>& folders);

/// The plugin folder that `path` means: a folder with a plugin.toml, or that file, or the library
/// that it names. Absolute. Errors (Domain::Config): there is no such thing.
Result<std::string> plugin_folder(const std::string& path);

}  // namespace prism::plugin
