// SPDX-License-Identifier: Apache-2.0
/// The fuzzer's bytes as a file, for what reads files.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace prism::fuzz {

/// One file in memory, written anew for every input; its path.
inline const std::string& input_file(const uint8_t* data, size_t size) {
  static const int fd = ::memfd_create("input", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(fd);
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, data, size, 0) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  return path;
}

}  // namespace prism::fuzz
