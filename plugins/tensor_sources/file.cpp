// SPDX-License-Identifier: Apache-2.0
/// The elements of a file: NumPy's .npy, or raw little-endian elements.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "plugins/tensor_sources/npy.hpp"
#include "prism/sdk/plugin.hpp"
#include "prism/sdk/tensor_source.hpp"

namespace prism::tensor_sources {
namespace {

class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat info {};
    if (fd_ < 0) {
      const int why = errno;
      throw sdk::Error(why == ENOENT ? PRISM_STATUS_NOT_FOUND : PRISM_STATUS_INVALID_ARGUMENT,
                       "the file '" + path_ + "' cannot be opened: " + std::strerror(why));
    }
    if (::fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) {
      ::close(fd_);
      throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT, "'" + path_ + "' is no regular file");
    }
    size_ = static_cast<uint64_t>(info.st_size);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { ::close(fd_); }

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }

  void read(uint64_t at, void* to, uint64_t bytes) const {
    auto* begin = static_cast<char*>(to);
    while (bytes > 0) {
      const ssize_t got = ::pread(fd_, begin, bytes, static_cast<off_t>(at));
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got <= 0) {
        throw sdk::Error(PRISM_STATUS_DATA_LOSS,
                         "the file '" + path_ + "' cannot be read: " +
                             (got < 0 ? std::strerror(errno) : "it is shorter than it was"));
      }
      begin += got;
      at += static_cast<uint64_t>(got);
      bytes -= static_cast<uint64_t>(got);
    }
  }

 private:
  const std::string path_;
  const int fd_;
  uint64_t size_ = 0;
};

class File {
 public:
  static constexpr auto kOptions = sdk::options(
      sdk::path("path", "A .npy file, or the elements alone, little-endian, row after row.")
          .required());

  explicit File(const sdk::OptionValues& values) : file_(values.path("path")) {
    std::string begin(std::min(file_.size(), kMaxNpyHeader), '\0');
    file_.read(0, begin.data(), begin.size());
    npy_ = is_npy(begin);
    if (npy_) {
      header_ = header_of(begin);
      const uint64_t data = header_.elements * sdk::element_size(header_.dtype);
      if (data != file_.size() - header_.data_at) {
        throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                         "the file '" + file_.path() + "' has " +
                             std::to_string(file_.size() - header_.data_at) +
                             " bytes behind its header, which speaks of " + std::to_string(data));
      }
    }
  }

  void fill(const sdk::TensorRequest& /*request*/, const sdk::Tensor& out) {
    const std::string wanted = "the tensor has " + std::to_string(out.elements()) +
                               " elements of type '" + std::string(sdk::dtype_name(out.dtype())) +
                               "'";
    const std::string name = "the file '" + file_.path() + "' has ";
    if (npy_ && (header_.dtype != out.dtype() || header_.elements != out.elements())) {
      throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                       name + std::to_string(header_.elements) + " elements of type '" +
                           std::string(sdk::dtype_name(header_.dtype)) + "', " + wanted);
    }
    if (!npy_ && file_.size() != out.bytes()) {
      throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT, name + std::to_string(file_.size()) +
                                                          " bytes, " + wanted + ", " +
                                                          std::to_string(out.bytes()) + " bytes");
    }
    file_.read(header_.data_at, out.data(), out.bytes());
  }

 private:
  NpyHeader header_of(std::string_view begin) const {
    try {
      return read_npy_header(begin);
    } catch (const sdk::Error& error) {
      throw sdk::Error(error.code(), "the file '" + file_.path() + "': " + error.what());
    }
  }

  const OpenFile file_;
  bool npy_ = false;
  NpyHeader header_;  ///< of a raw file: all 0
};

}  // namespace
}  // namespace prism::tensor_sources

PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION,
             prism::sdk::TensorSource<prism::tensor_sources::File>);
