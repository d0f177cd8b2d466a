// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/trust.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/program.hpp"

namespace prism::plugin {
namespace {

uid_t owner_of_program() {
  struct stat info {};
  return ::stat(program_file().c_str(), &info) == 0 ? info.st_uid : 0;
}

}  // namespace

std::string why_untrusted(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    return {};
  }
  const std::string advice =
      "; its code would run as you (--allow-insecure-plugin-dir takes it nevertheless)";
  if ((info.st_mode & S_IWOTH) != 0) {
    return "everybody may write to " + path + advice;
  }
  if (info.st_uid != 0 && info.st_uid != ::geteuid() && info.st_uid != owner_of_program()) {
    return path + " belongs to the user with number " + std::to_string(info.st_uid) +
           ", neither to you nor to root" + advice;
  }
  return {};
}

}  // namespace prism::plugin
