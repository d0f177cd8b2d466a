// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/kineto/source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "prism/sdk/error.hpp"

namespace prism::kineto {
namespace {

constexpr size_t kPiece = 256 * 1024;

class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat info {};
    if (fd_ < 0) {
      const int why = errno;
      throw sdk::Error(why == ENOENT ? PRISM_STATUS_NOT_FOUND : PRISM_STATUS_INVALID_ARGUMENT,
                       "the file '" + path + "' cannot be opened: " + std::strerror(why));
    }
    if (::fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) {
      ::close(fd_);
      throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT, "'" + path + "' is no regular file");
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  ~Descriptor() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  int get() const { return fd_; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  int fd_;
};

class Plain final : public Source {
 public:
  Plain(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}
  size_t read(char* to, size_t size) override {
    while (true) {
      const ssize_t got = ::read(file_.get(), to, size);
      if (got >= 0) {
        return static_cast<size_t>(got);
      }
      if (errno != EINTR) {
        throw sdk::Error(PRISM_STATUS_DATA_LOSS,
                         "the file '" + path_ + "' cannot be read: " + std::strerror(errno));
      }
    }
  }

 private:
  const std::string path_;
  const Descriptor file_;
};

class Gzip final : public Source {
 public:
  Gzip(std::string path, Descriptor file)
      : path_(std::move(path)), file_(::gzdopen(file.get(), "rb")) {
    if (file_ == nullptr) {
      throw std::bad_alloc();
    }
    file.release();
    ::gzbuffer(file_, kPiece);
  }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;
  ~Gzip() override { ::gzclose_r(file_); }

  size_t read(char* to, size_t size) override {
    const int got = ::gzread(file_, to, static_cast<unsigned>(std::min<size_t>(size, 1U << 30)));
    int code = Z_OK;
    const char* why = ::gzerror(file_, &code);
    if (got < 0 || (got == 0 && code != Z_OK && code != Z_STREAM_END)) {
      // zlib names the descriptor in front of what it has to say.
      const std::string_view text = why == nullptr ? "" : why;
      const size_t colon = text.find(": ");
      throw sdk::Error(
          PRISM_STATUS_DATA_LOSS,
          "the file '" + path_ + "' cannot be decompressed at byte " +
              std::to_string(std::max<z_off_t>(::gzoffset(file_), 0)) + ": " +
              std::string(colon == std::string_view::npos ? text : text.substr(colon + 2)));
    }
    return static_cast<size_t>(got);
  }

 private:
  const std::string path_;
  gzFile file_;
};

}  // namespace

std::unique_ptr<Source> open_source(const std::string& path) {
  Descriptor file(path);
  unsigned char magic[2] = {};
  const bool gzip = ::pread(file.get(), magic, 2, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
  if (gzip) {
    return std::make_unique<Gzip>(path, std::move(file));
  }
  return std::make_unique<Plain>(path, std::move(file));
}

}  // namespace prism::kineto
