// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/output_file.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include "prism/sdk/error.hpp"

namespace prism::formats {

OutputFile::OutputFile(const std::string& path)
    : path_(path), file_(std::fopen(path.c_str(), "wb")) {
  if (file_ == nullptr) {
    fail("opened for writing");
  }
}

OutputFile::~OutputFile() {
  if (file_ != nullptr) {
    std::fclose(file_);
  }
}

void OutputFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) {
    fail("written");
  }
}

void OutputFile::close() {
  if (std::fclose(std::exchange(file_, nullptr)) != 0) {
    fail("written");
  }
}

void OutputFile::fail(const char* what) const {
  const int error = errno;
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  throw sdk::Error(full ? PRISM_STATUS_RESOURCE_EXHAUSTED : PRISM_STATUS_FAILED_PRECONDITION,
                   path_ + ": cannot be " + what + ": " + std::generic_category().message(error));
}

}  // namespace prism::formats
