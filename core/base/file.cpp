// SPDX-License-Identifier: Apache-2.0
#include "core/base/file.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <xxhash.h>

#include "core/base/descriptor.hpp"

namespace prism {

Result<std::string> read_file(const std::string& path, uint64_t max_bytes) {
  uint64_t size = 0;
  PRISM_TRY_ASSIGN(const Descriptor fd, open_regular(path, size));
  std::string content;
  char buffer[1 << 16];
  while (true) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      return io_error("read", path, errno);
    }
    if (n == 0) {
      return content;
    }
    if (content.size() + static_cast<size_t>(n) > max_bytes) {
      return run_error(
          "cannot read '" + path + "': it is larger than " + std::to_string(max_bytes) + " bytes",
          Code::OutOfRange);
    }
    content.append(buffer, static_cast<size_t>(n));
  }
}

Status replace_file(const std::string& path,
                    const std::function<Status(const std::string& unfinished)>& write) {
  struct stat there {};
  if (::stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    return run_error("cannot replace '" + path + "': it is no regular file", Code::InvalidArgument);
  }
  std::string part = path + ".part-XXXXXX";  // no file of somebody else's
  const Descriptor fd(::mkostemp(part.data(), O_CLOEXEC));
  if (fd.get() < 0) {
    return io_error("write", path, errno);
  }
  ::fchmod(fd.get(), 0644);
  Status status = write(part);
  if (status.ok() && ::fsync(fd.get()) != 0) {
    status = io_error("write", part, errno);
  }
  if (status.ok() && ::rename(part.c_str(), path.c_str()) != 0) {
    status = io_error("replace", path, errno);
  }
  if (!status.ok()) {
    ::unlink(part.c_str());
  }
  return status;
}

Status write_file_atomically(const std::string& path, std::string_view content) {
  return replace_file(path, [&](const std::string& part) -> Status {
    const Descriptor fd(::open(part.c_str(), O_WRONLY | O_CLOEXEC));
    if (fd.get() < 0) {
      return io_error("write", part, errno);
    }
    return write_all(fd, part, content);
  });
}

Status make_folders(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    return io_error("create the folder", path, error.value());
  }
  return {};
}

std::string content_hash(std::string_view data) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(XXH3_64bits(data.data(), data.size())));
  return text;
}

std::string join_path(std::string_view folder, std::string_view name) {
  return (std::filesystem::path(folder) / std::filesystem::path(name)).string();
}

}  // namespace prism
