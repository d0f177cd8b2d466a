// SPDX-License-Identifier: Apache-2.0
/// Which plugins there are, from their manifests alone: nothing is loaded.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/status.hpp"
#include "core/plugin/manifest.hpp"

namespace prism::plugin {

/// Where plugins are looked for; the first that has an id wins. Never the current folder, never
/// the system loader's path.
struct SearchPath {
  /// [plugins.path] of the experiment file: id -> the plugin's own folder, absolute.
  std::vector<std::pair<std::string, std::string>> overrides;
  /// Folders that hold one folder per plugin, absolute.
  std::vector<std::string> roots;
};

/// The plugin folder that belongs to the running program, in its build tree or where it is
/// installed: bin/../lib/prism/plugins/abi-1 in both.
std::vector<std::string> standard_roots();

enum class State : uint8_t {
  Ok,
  Shadowed,      ///< another plugin of that id is found before it
  Incompatible,  ///< this program cannot use it
  Broken,        ///< manifest or files are not in order
};

struct Candidate {
  std::string id;      ///< by its manifest; the folder's name when that cannot be read
  std::string folder;  ///< absolute
  State state = State::Ok;
  std::string reason;  ///< why it is not Ok
  Manifest manifest;   ///< empty when it cannot be read

  std::string library() const { return folder + "/" + manifest.library; }
};

/// All plugins of the search path in its order, and inside a root by folder name.
std::vector<Candidate> discover(const SearchPath& path);

}  // namespace prism::plugin
