// SPDX-License-Identifier: Apache-2.0
#include "core/base/descriptor.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace prism {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

Status io_error(const std::string& doing, const std::string& path, int error) {
  const Code code = error == ENOENT                     ? Code::NotFound
                    : error == EACCES                   ? Code::PermissionDenied
                    : error == ENOSPC || error == EFBIG ? Code::ResourceExhausted
                                                        : Code::Unavailable;
  return run_error("cannot " + doing + " '" + path + "': " + std::strerror(error), code);
}

Status write_all(const Descriptor& fd, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      return io_error("write", path, errno);
    }
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Status read_at(const Descriptor& fd, const std::string& path, uint64_t offset, char* to,
               size_t size) {
  while (size > 0) {
    const ssize_t n = ::pread(fd.get(), to, size, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      return io_error("read", path, errno);
    }
    if (n == 0) {
      return run_error("cannot read '" + path + "': it ended at byte " + std::to_string(offset) +
                           " while it was read",
                       Code::DataLoss);
    }
    to += n;
    offset += static_cast<uint64_t>(n);
    size -= static_cast<size_t>(n);
  }
  return {};
}

Result<Descriptor> open_regular(const std::string& path, uint64_t& size) {
  // O_NONBLOCK: opening a pipe that nobody writes to must not wait for a writer.
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) {
    return io_error("open", path, errno);
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) {
    return io_error("read", path, errno);
  }
  if (!S_ISREG(info.st_mode)) {
    return run_error("cannot read '" + path + "': it is no regular file", Code::InvalidArgument);
  }
  size = static_cast<uint64_t>(info.st_size);
  return fd;
}

}  // namespace prism
