// SPDX-License-Identifier: Apache-2.0
/// An open file and whole reads and writes on it. Messages name the path and the reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/status.hpp"

namespace prism {

/// Closes the descriptor when left.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();

  int get() const { return fd_; }

 private:
  int fd_;
};

/// "cannot DOING 'PATH': REASON", with the code that belongs to `error`, an errno.
Status io_error(const std::string& doing, const std::string& path, int error);

/// Writes all bytes where the file stands; `path` is for messages.
Status write_all(const Descriptor& fd, const std::string& path, std::string_view bytes);

/// Fills `to` from `offset` on. Errors: also a file that ends before.
Status read_at(const Descriptor& fd, const std::string& path, uint64_t offset, char* to,
               size_t size);

/// Opens a regular file for reading, whatever it is without waiting; `size` gets its length.
Result<Descriptor> open_regular(const std::string& path, uint64_t& size);

}  // namespace prism
