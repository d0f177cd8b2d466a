// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/trust.hpp"

#include <filesystem>
#include <grp.h>
#include <pwd.h>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/program.hpp"
#include "core/plugin/elf.hpp"

namespace prism::plugin {
namespace {

namespace fs = std::filesystem;

uid_t owner_of_program() {
  struct stat info {};
  return ::stat(program_file().c_str(), &info) == 0 ? info.st_uid : 0;
}

/// Whether nobody but this user is in the group: his own one, as most systems give each user. And
/// root's, whose members are root.
bool is_private_group(gid_t id) {
  const passwd* const user = ::getpwuid(::geteuid());
  const group* const members = ::getgrgid(id);
  if (id == 0) {
    return members == nullptr || members->gr_mem[0] == nullptr;
  }
  if (user == nullptr || members == nullptr || user->pw_gid != id ||
      std::string_view(user->pw_name) != members->gr_name) {
    return false;
  }
  for (char** member = members->gr_mem; *member != nullptr; ++member) {
    if (std::string_view(*member) != user->pw_name) {
      return false;
    }
  }
  return true;
}

std::string advice(const std::string& expected) {
  return "; whoever may do so runs code as you. Expected: " + expected +
         " (or --allow-insecure-plugin-dir, which takes it nevertheless)";
}

/// What is wrong with one file or folder by itself. `around`: only what is in it matters, so that
/// the sticky bit, with which nobody replaces what belongs to others, will do.
std::string why_changeable(const std::string& path, bool around) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    return {};
  }
  const bool sticky = around && (info.st_mode & S_ISVTX) != 0;
  if ((info.st_mode & S_IWOTH) != 0 && !sticky) {
    return "everybody may write to " + path + advice("chmod o-w " + path);
  }
  if ((info.st_mode & S_IWGRP) != 0 && !sticky && !is_private_group(info.st_gid)) {
    return "the group with number " + std::to_string(info.st_gid) + " may write to " + path +
           advice("chmod g-w " + path);
  }
  if (info.st_uid != 0 && info.st_uid != ::geteuid() && info.st_uid != owner_of_program()) {
    return path + " belongs to the user with number " + std::to_string(info.st_uid) +
           ", neither to you nor to root, who may write to it" + advice("a copy that is yours");
  }
  return {};
}

/// Whoever may write there can replace this program itself.
bool is_above_program(const std::string& folder) {
  return program_file().starts_with(folder + "/");
}

/// Collects what a library needs and finds in folders that it names itself, `library` included.
void add_needed(const std::string& library, std::set<std::string>& found) {
  constexpr size_t kMostLibraries = 256;
  if (found.size() >= kMostLibraries || !found.insert(library).second) {
    return;
  }
  const Result<Dependencies> dependencies = read_dependencies(library);
  if (!dependencies.ok()) {
    return;  // loading it says why
  }
  for (const std::string& name : dependencies->needed) {
    for (const std::string& folder : dependencies->search_paths) {
      std::error_code error;
      const std::string file = folder + "/" + name;
      if (fs::is_regular_file(file, error)) {
        add_needed(file, found);
        break;
      }
    }
  }
}

}  // namespace

std::string why_untrusted(const std::string& path) {
  std::string reason = why_changeable(path, false);
  // The folders that it was named by, and those in which it really is: a link may be replaced too.
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  for (const fs::path& way : {fs::path(path).lexically_normal(), real}) {
    for (fs::path folder = way.parent_path(); reason.empty() && folder.has_relative_path();
         folder = folder.parent_path()) {
      if (!is_above_program(folder.string())) {
        reason = why_changeable(folder.string(), true);
      }
    }
  }
  return reason;
}

std::string why_untrusted_library(const std::string& library) {
  std::set<std::string> libraries;
  add_needed(library, libraries);
  for (const std::string& file : libraries) {
    if (std::string reason = why_untrusted(file); !reason.empty()) {
      return reason;
    }
  }
  return {};
}

}  // namespace prism::plugin
