// SPDX-License-Identifier: Apache-2.0
/// Finds and loads plugins by id.
///
///   Registry registry({.overrides = {}, .roots = usual_roots()});   // search_path.hpp
///   auto launcher = open_launcher(registry, "local", values);   // adapters.hpp
///   ...
///   registry.shutdown();                                        // before main returns
///
/// Thread: [control], one at a time. One registry per process; plugins see init once.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"
#include "core/plugin/discovery.hpp"
#include "core/plugin/host_table.hpp"
#include "prism/abi/plugin.h"

namespace prism::plugin {

/// A plugin that is loaded, checked and initialised. Its memory is never given back: the plugin's
/// code may outlive the registry on some thread.
class LoadedPlugin {
 public:
  LoadedPlugin(Candidate candidate, const prism_plugin_t* table)
      : candidate_(std::move(candidate)), table_(table), host_(candidate_.id) {}

  const Manifest& manifest() const { return candidate_.manifest; }
  const std::string& folder() const { return candidate_.folder; }
  /// Absolute path.
  std::string library() const { return candidate_.library(); }
  /// "plugin 'local' (libprism_local.so 0.1.0)", the begin of every message about it.
  std::string name() const;
  /// The table of an interface that the manifest lists (checked when it was loaded), else nullptr.
  const void* interface(std::string_view id) const;

 private:
  friend class Registry;
  Candidate candidate_;
  const prism_plugin_t* table_;
  HostTable host_;
};

class Registry {
 public:
  explicit Registry(SearchPath path) : path_(std::move(path)) {}
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;
  ~Registry() { shutdown(); }

  /// Every plugin of the search path by its manifest, without loading any.
  std::vector<Candidate> list() const { return discover(path_); }

  /// The plugin of that id that would be loaded, whatever its state. Errors: as load() for one that
  /// is not there.
  Result<Candidate> find(std::string_view id) const;

  /// The plugin of that id; loads and initialises it the first time. Errors (Domain::Plugin): no
  /// such plugin, with the folders searched, what was rejected there and why, and a suggestion; or
  /// why the one that there is cannot be used.
  Result<const LoadedPlugin*> load(std::string_view id);

  /// Ends the plugins, last loaded first. What was made with them must be gone by then. Called by
  /// the destructor at the latest; a second call does nothing.
  void shutdown();

  /// Lines "  searched: FOLDER" and "  rejected: FOLDER: why", for a message about one that is not
  /// there. `candidates`: of list().
  std::string places(const std::vector<Candidate>& candidates) const;

 private:
  Status not_found(std::string_view id, const std::vector<Candidate>& candidates) const;

  SearchPath path_;
  std::vector<LoadedPlugin*> loaded_;  // in the order of loading; owned by nobody, see LoadedPlugin
};

}  // namespace prism::plugin
