// SPDX-License-Identifier: Apache-2.0
#include "core/base/program.hpp"

#include <filesystem>

namespace prism {

std::string program_file() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

std::string program_prefix() {
  return std::filesystem::path(program_file()).parent_path().parent_path().string();
}

}  // namespace prism
