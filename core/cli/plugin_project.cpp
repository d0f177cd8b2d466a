// SPDX-License-Identifier: Apache-2.0
#include "core/cli/plugin_project.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/base/file.hpp"
#include "core/base/program.hpp"
#include "core/base/text.hpp"
#include "core/config/diagnostics.hpp"

namespace prism::cli {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxTemplateFile = 1 << 20;
constexpr size_t kMaxName = 32;
constexpr std::string_view kCommon = "common";

/// Ids that would be confused with a part of Prism, of CMake or with a plugin that Prism has.
constexpr std::string_view kReserved[] = {
    "abi",           "all",    "auto",       "balanced", "chakra",  "check",
    "clean",         "common", "constant",   "core",     "csv",     "default",
    "file",          "format", "help",       "host",     "install", "kineto",
    "launcher",      "local",  "microbatch", "none",     "normal",  "perfetto",
    "plugin",        "prism",  "router",     "runtime",  "sdk",     "template_id",
    "tensor_source", "test",   "tokens",     "torch",    "zeros",   "zipf"};

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// "MyRouter" of "my_router".
std::string class_of(std::string_view id) {
  std::string name;
  bool at_start = true;
  for (const char c : id) {
    if (c == '_') {
      at_start = true;
      continue;
    }
    name += at_start && is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
    at_start = false;
  }
  return name;
}

std::string replaced(std::string text,
                     const std::vector<std::pair<std::string, std::string>>& placeholders) {
  for (const auto& [from, to] : placeholders) {
    size_t at = 0;
    while ((at = text.find(from, at)) != std::string::npos) {
      text.replace(at, from.size(), to);
      at += to.size();
    }
  }
  return text;
}

std::string file_name(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::string_view dot = "dot-";
  return name.starts_with(dot) ? "." + name.substr(dot.size()) : name;
}

std::vector<std::string> subfolders(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->is_directory()) {
      names.push_back(it->path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// The license's text, which is at hand only for Prism's own.
Result<std::string> license_text(const std::string& templates, const PluginProject& project) {
  if (project.license == "Apache-2.0") {
    return read_file(templates + "/LICENSE", kMaxTemplateFile);
  }
  return project.name + " is licensed under " + project.license +
         ".\n\nSPDX-License-Identifier: " + project.license +
         "\n\nThe texts of licenses are at https://spdx.org/licenses/.\n";
}

}  // namespace

Result<std::string> plugin_id_of(std::string_view name) {
  const auto refuse = [&](const std::string& why) {
    return config_error("'" + printable(name) + "' " + why);
  };
  if (name.size() < 2 || name.size() > kMaxName) {
    return refuse("cannot name a plugin: a name has 2 to " + std::to_string(kMaxName) +
                  " characters, this one " + std::to_string(name.size()));
  }
  const bool good = is_lower(name[0]) && name.back() != '-' && name.back() != '_' &&
                    std::all_of(name.begin(), name.end(), [](char c) {
                      return is_lower(c) || is_digit(c) || c == '-' || c == '_';
                    });
  if (!good) {
    return refuse(
        "cannot name a plugin: use a-z, 0-9, '-' and '_', a letter first, such as "
        "my-router");
  }
  std::string id(name);
  std::replace(id.begin(), id.end(), '-', '_');
  if (id.find("__") != std::string::npos) {
    return refuse("cannot name a plugin: two '-' or '_' follow each other");
  }
  if (std::find(std::begin(kReserved), std::end(kReserved), id) != std::end(kReserved)) {
    return refuse("is taken by Prism or CMake; choose another name");
  }
  return id;
}

Result<std::string> template_folder() {
  const fs::path prefix = program_prefix();
  const fs::path folder = prefix / PRISM_INSTALL_DATADIR / "prism/templates";
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return environment_error("there is no " + folder.string() +
                             ", where the templates of plugins should be; this installation of "
                             "Prism is not complete");
  }
  return folder.string();
}

std::vector<std::string> template_kinds(const std::string& templates) {
  std::vector<std::string> kinds = subfolders(templates);
  std::erase(kinds, kCommon);
  return kinds;
}

std::vector<std::string> template_languages(const std::string& templates, const std::string& kind) {
  return subfolders(fs::path(templates) / kind);
}

Status write_project(const std::string& templates, const PluginProject& project) {
  PRISM_TRY_ASSIGN(const std::string id, plugin_id_of(project.name));
  std::error_code error;
  const fs::path target = project.folder;
  if (fs::exists(fs::symlink_status(target, error)) && !fs::is_empty(target, error)) {
    return config_error("'" + project.folder + "' is there already and not empty; name another " +
                            "folder with --dir",
                        Code::AlreadyExists);
  }
  const std::vector<std::pair<std::string, std::string>> placeholders = {
      {"template-name", project.name},
      {"template_id", id},
      {"TemplateClass", class_of(id)},
      {"template_kind", project.kind},
      {"SPDX-License-Identifier: Apache-2.0", "SPDX-License-Identifier: " + project.license},
      {"LICENSE Apache-2.0", "LICENSE \"" + project.license + "\""}};

  std::vector<std::pair<fs::path, std::string>> files;  // all read before the first is written
  PRISM_TRY_ASSIGN(std::string license, license_text(templates, project));
  files.emplace_back(target / "LICENSE", std::move(license));
  for (const fs::path& from :
       {fs::path(templates) / kCommon, fs::path(templates) / project.kind / project.language}) {
    for (fs::recursive_directory_iterator it(from, error), end; !error && it != end;
         it.increment(error)) {
      if (it->is_regular_file()) {
        PRISM_TRY_ASSIGN(std::string text, read_file(it->path().string(), kMaxTemplateFile));
        const fs::path folder = target / it->path().lexically_relative(from).parent_path();
        files.emplace_back(folder / replaced(file_name(it->path()), placeholders),
                           replaced(std::move(text), placeholders));
      }
    }
    if (error) {
      return environment_error("cannot read " + from.string() + ": " + error.message());
    }
  }
  const bool existed = fs::exists(target, error);
  for (const auto& [path, text] : files) {
    Status written = make_folders(path.parent_path().string());
    if (written.ok()) {
      written = write_file_atomically(path.string(), text);
    }
    if (!written.ok()) {
      for (const auto& [undone, content] : files) {
        fs::remove(undone, error);
      }
      if (!existed) {
        fs::remove_all(target, error);
      }
      return config_error(std::string(written.message()), written.code());
    }
  }
  return {};
}

}  // namespace prism::cli
