// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/discovery.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>

#include "core/base/file.hpp"
#include "core/plugin/trust.hpp"
#include "prism/abi/version.h"
#include "prism/host/bind.hpp"

namespace prism::plugin {
namespace {

namespace fs = std::filesystem;

/// Whether this program runs with the sanitizer that a plugin was built with. A plugin that has
/// one which the program lacks would end the process while it is loaded.
bool has_sanitizer(std::string_view name) {
  if (name == "address") {
#ifdef __SANITIZE_ADDRESS__
    return true;
#else
    return false;
#endif
  }
  if (name == "thread") {
#ifdef __SANITIZE_THREAD__
    return true;
#else
    return false;
#endif
  }
  return true;
}

/// What is loaded or run from the plugin's folder.
std::vector<std::string> files_of(const Manifest& manifest) {
  std::vector<std::string> files = {manifest.library};
  for (const Companion& companion : manifest.companions) {
    files.push_back(companion.file);
  }
  return files;
}

void judge(Candidate& candidate) {
  const Manifest& m = candidate.manifest;
  if (m.abi_major != PRISM_ABI_MAJOR) {
    candidate.state = State::Incompatible;
    candidate.reason = "needs plugin ABI major " + std::to_string(m.abi_major) +
                       ", this program has " + std::to_string(PRISM_ABI_MAJOR);
    return;
  }
  // The constant is 0 today, so that the compiler would call a plain comparison pointless.
  constexpr int64_t kOurMinor = PRISM_ABI_MINOR;
  if (int64_t{m.min_host_minor} > kOurMinor) {
    candidate.state = State::Incompatible;
    candidate.reason = "needs plugin ABI " + host::version_text(m.abi_major, m.min_host_minor) +
                       " or later, this program has " +
                       host::version_text(PRISM_ABI_MAJOR, PRISM_ABI_MINOR);
    return;
  }
  for (const std::string& sanitizer : m.sanitizers) {
    if (!has_sanitizer(sanitizer)) {
      candidate.state = State::Incompatible;
      candidate.reason = "was built with the " + sanitizer + " sanitizer, this program without";
      return;
    }
  }
  for (const std::string& file : files_of(m)) {
    std::error_code error;
    if (!fs::is_regular_file(candidate.folder + "/" + file, error)) {
      candidate.state = State::Broken;
      candidate.reason = "its file " + file + " is missing";
      return;
    }
  }
}

/// Puts off what others may change, files and folders alike.
void distrust(Candidate& candidate, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const std::string reason = why_untrusted(path);
    if (candidate.state == State::Ok && !reason.empty()) {
      candidate.state = State::Broken;
      candidate.reason = reason;
    }
  }
}

std::vector<std::string> subfolders(const std::string& root) {
  std::vector<std::string> folders;
  std::error_code error;
  for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_directory(ignored)) {
      folders.push_back(it->path().string());
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

}  // namespace

Candidate examine(const std::string& folder, bool allow_insecure) {
  Candidate candidate;
  candidate.folder = folder;
  Result<Manifest> manifest = read_manifest(folder);
  if (manifest.ok()) {
    candidate.manifest = *std::move(manifest);
    candidate.id = candidate.manifest.id;
    judge(candidate);
    if (!allow_insecure) {
      std::vector<std::string> paths = {folder, folder + "/plugin.toml"};
      for (const std::string& file : files_of(candidate.manifest)) {
        paths.push_back(join_path(folder, file));
      }
      distrust(candidate, paths);
    }
  } else {
    candidate.id = fs::path(folder).filename().string();
    candidate.state = State::Broken;
    candidate.reason = manifest.status().message();
  }
  return candidate;
}

std::string why_untrusted_libraries(const Candidate& candidate) {
  std::string reason;
  for (const std::string& file : files_of(candidate.manifest)) {
    reason = reason.empty() ? why_untrusted_library(join_path(candidate.folder, file)) : reason;
  }
  return reason;
}

std::vector<Candidate> discover(const SearchPath& path) {
  std::vector<Candidate> candidates;
  for (const std::string& folder : path.folders) {
    candidates.push_back(examine(folder, path.allow_insecure));
  }
  for (const auto& [id, folder] : path.overrides) {
    Candidate candidate = examine(folder, path.allow_insecure);
    if (candidate.manifest.id.empty()) {
      candidate.id = id;
    } else if (candidate.manifest.id != id) {
      candidate.state = State::Broken;
      candidate.reason = "holds the plugin '" + candidate.manifest.id + "', not '" + id + "'";
      candidate.id = id;
    }
    candidates.push_back(std::move(candidate));
  }
  for (const std::string& root : path.roots) {
    for (const std::string& folder : subfolders(root)) {
      candidates.push_back(examine(folder, path.allow_insecure));
    }
  }
  std::map<std::string, std::string> winners;  // id -> folder
  for (Candidate& candidate : candidates) {
    const auto [winner, first] = winners.emplace(candidate.id, candidate.folder);
    if (!first) {
      candidate.state = State::Shadowed;
      candidate.reason = "found first in " + winner->second;
    }
  }
  return candidates;
}

}  // namespace prism::plugin
