// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/search_path.hpp"

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>

#include "core/base/log.hpp"
#include "core/base/program.hpp"

namespace prism::plugin {
namespace {

namespace fs = std::filesystem;

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

void append(std::vector<std::string>& roots, const std::vector<std::string>& more) {
  roots.insert(roots.end(), more.begin(), more.end());
}

}  // namespace

std::vector<std::string> environment_roots() {
  std::vector<std::string> roots;
  std::string_view rest = variable("PRISM_PLUGIN_PATH");
  while (!rest.empty()) {
    const size_t colon = rest.find(':');
    const std::string entry(rest.substr(0, colon));
    rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
    if (fs::path(entry).is_absolute()) {
      roots.push_back(entry);
    } else {
      log::warn("PRISM_PLUGIN_PATH: the entry '" + entry +
                "' is not searched: it is no absolute path");
    }
    if (colon != std::string_view::npos && rest.empty()) {
      log::warn("PRISM_PLUGIN_PATH: the entry after its last ':' is empty and not searched");
    }
  }
  return roots;
}

std::vector<std::string> user_roots() {
  fs::path data = variable("XDG_DATA_HOME");
  if (!data.is_absolute()) {  // the specification of XDG says to ignore others
    const fs::path home = variable("HOME");
    if (!home.is_absolute()) {
      return {};
    }
    data = home / ".local/share";
  }
  return {(data / PRISM_PLUGIN_SUBDIR).string()};
}

std::vector<std::string> standard_roots() {
  const fs::path prefix = program_prefix();
  if (prefix.empty()) {
    return {};
  }
  std::vector<std::string> roots = {(prefix / "lib" / PRISM_PLUGIN_SUBDIR).string()};
  const std::string_view installed = PRISM_INSTALL_LIBDIR;  // lib64 on some systems
  if (installed != "lib") {
    roots.push_back((prefix / installed / PRISM_PLUGIN_SUBDIR).string());
  }
  return roots;
}

std::vector<std::string> usual_roots() {
  std::vector<std::string> roots = environment_roots();
  append(roots, user_roots());
  append(roots, standard_roots());
  return roots;
}

std::vector<std::string> distinct_folders(const std::vector<std::string>& folders) {
  std::set<std::string> seen;
  std::vector<std::string> distinct;
  for (const std::string& folder : folders) {
    std::error_code error;
    if (seen.insert(fs::weakly_canonical(folder, error).string()).second) {
      distinct.push_back(folder);
    }
  }
  return distinct;
}

Result<std::string> plugin_folder(const std::string& path) {
  std::error_code error;
  fs::path full = fs::absolute(path, error).lexically_normal();
  if (!full.has_filename()) {  // it ended in '/'
    full = full.parent_path();
  }
  const fs::file_status found = fs::status(full, error);
  if (fs::is_directory(found)) {
    return full.string();
  }
  if (!fs::is_regular_file(found)) {
    return config_error("there is no plugin '" + path + "': no such file or folder",
                        Code::NotFound);
  }
  const std::string folder = full.parent_path().string();
  const Result<Manifest> manifest = read_manifest(folder);
  const std::string name = full.filename().string();
  if (name != "plugin.toml" && manifest.ok() && manifest->library != name) {
    return config_error("'" + path + "' is not the library of the plugin in its folder, which is " +
                        manifest->library);
  }
  if (name != "plugin.toml" && !manifest.ok() && manifest.status().code() == Code::NotFound) {
    return config_error("'" + path +
                        "' is no plugin: there is no plugin.toml beside it, which "
                        "prism_add_plugin writes");
  }
  return folder;
}

}  // namespace prism::plugin
