// SPDX-License-Identifier: Apache-2.0
#include "core/cli/plugin_search.hpp"

#include <filesystem>

#include "core/plugin/registry.hpp"

namespace prism::cli {

std::vector<Flag> with_search_flags(std::vector<Flag> own) {
  own.push_back(
      {"plugin", "PATH", "a plugin's folder or library, before all others (repeatable)", true});
  own.push_back(
      {"plugin-path", "DIR", "a folder of plugin folders, searched first (repeatable)", true});
  own.push_back(
      {"allow-insecure-plugin-dir", "", "also load plugins that other users may have changed"});
  return own;
}

Result<plugin::SearchPath> search_path(const Arguments& arguments,
                                       std::vector<std::pair<std::string, std::string>> overrides) {
  plugin::SearchPath path;
  path.overrides = std::move(overrides);
  path.allow_insecure = arguments.has("allow-insecure-plugin-dir");
  for (const std::string& given : arguments.all("plugin")) {
    PRISM_TRY_ASSIGN(std::string folder, plugin::plugin_folder(given));
    path.folders.push_back(std::move(folder));
  }
  for (const std::string& given : arguments.all("plugin-path")) {
    std::error_code error;
    if (!std::filesystem::is_directory(given, error)) {
      return config_error("--plugin-path: there is no folder '" + given + "'", Code::NotFound);
    }
    path.roots.push_back(std::filesystem::absolute(given, error).lexically_normal().string());
  }
  for (std::string& root : plugin::usual_roots()) {
    path.roots.push_back(std::move(root));
  }
  path.folders = plugin::distinct_folders(path.folders);
  path.roots = plugin::distinct_folders(path.roots);
  return path;
}

Result<plugin::Candidate> find_plugin(const std::string& id_or_path,
                                      const plugin::SearchPath& path) {
  if (id_or_path.find('/') == std::string::npos) {
    return plugin::Registry(path).find(id_or_path);
  }
  PRISM_TRY_ASSIGN(const std::string folder, plugin::plugin_folder(id_or_path));
  return plugin::examine(folder, path.allow_insecure);
}

}  // namespace prism::cli
