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
/// the system loader's path. search_path.hpp makes the usual one.
struct SearchPath {
  /// [plugins.path] of the experiment file: id -> the plugin's own folder, absolute.
  std::vector<std::pair<std::string, std::string>> overrides;
  /// Folders that hold one folder per plugin, absolute. One level deep.
  std::vector<std::string> roots;
  /// Single plugins named on the command line: their own folders, absolute. They come first.
  std::vector<std::string> folders = {};
  /// Also takes what others than this user and root may change (trust.hpp).
  bool allow_insecure = false;
};

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

/// All plugins of the search path in its order, and inside a root by folder name. Reads manifests
/// and opens nothing else.
std::vector<Candidate> discover(const SearchPath& path);

/// Why somebody else could change what the files of the plugin need and find beside themselves
/// (trust.hpp); empty when nobody can. Reads these files, which examine() does not.
std::string why_untrusted_libraries(const Candidate& candidate);

/// The one in that folder, by itself: never Shadowed.
Candidate examine(const std::string& folder, bool allow_insecure = false);

}  // namespace prism::plugin
