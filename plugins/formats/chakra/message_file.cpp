// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/chakra/message_file.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>
#include <system_error>

#include "plugins/formats/chakra/wire.hpp"
#include "prism/sdk/error.hpp"

namespace prism::chakra {
namespace {

constexpr size_t kBuffer = size_t{1} << 18U;
constexpr size_t kLongestVarint = 10;
constexpr uint64_t kLongestMessage = uint64_t{1} << 28U;

}  // namespace

MessageFile::MessageFile(const std::string& path)
    : path_(path), file_(std::fopen(path.c_str(), "rbe")) {
  struct stat info {};
  if (file_ == nullptr || ::fstat(::fileno(file_.get()), &info) != 0) {
    throw sdk::Error(PRISM_STATUS_NOT_FOUND,
                     path + ": cannot be opened: " + std::generic_category().message(errno));
  }
  if (!S_ISREG(info.st_mode)) {
    throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT, path + ": is no regular file");
  }
  left_ = static_cast<uint64_t>(info.st_size);
  fill(2);
  if (buffer_.starts_with("\x1f\x8b")) {
    throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                     path + ": is compressed with gzip; decompress it first");
  }
}

bool MessageFile::next(std::string_view& message) {
  at_ = next_at_;
  fill(kLongestVarint);
  if (begin_ == buffer_.size()) {
    return false;
  }
  ++number_;
  const uint64_t length = take_length();
  check_length(length);
  fill(static_cast<size_t>(length));
  message = std::string_view(buffer_).substr(begin_, static_cast<size_t>(length));
  begin_ += message.size();
  next_at_ += length;
  return true;
}

uint64_t MessageFile::take_length() {
  std::string_view rest = std::string_view(buffer_).substr(begin_);
  const size_t before = rest.size();
  try {
    const uint64_t length = take_varint(rest);
    begin_ += before - rest.size();
    next_at_ += before - rest.size();
    return length;
  } catch (const Malformed&) {
    fail(PRISM_STATUS_DATA_LOSS,
         "begins with bytes that are no length; the file is cut, damaged, or no Chakra trace");
  }
}

void MessageFile::check_length(uint64_t length) const {
  const uint64_t here = left_ + (buffer_.size() - begin_);
  if (length > here) {
    fail(PRISM_STATUS_DATA_LOSS, "says it has " + std::to_string(length) + " bytes, but only " +
                                     std::to_string(here) +
                                     " are left; the file is cut or damaged");
  }
  if (length > kLongestMessage) {
    fail(PRISM_STATUS_DATA_LOSS, "says it has " + std::to_string(length) + " bytes, at most " +
                                     std::to_string(kLongestMessage) + " were expected");
  }
}

/// At least `size` unused bytes in the buffer, or all that are left.
void MessageFile::fill(size_t size) {
  if (buffer_.size() - begin_ >= size || left_ == 0) {
    return;
  }
  buffer_.erase(0, begin_);
  begin_ = 0;
  const size_t kept = buffer_.size();
  const auto wanted = static_cast<size_t>(
      std::min<uint64_t>(left_, std::max(size, kBuffer) - std::min(kept, kBuffer)));
  buffer_.resize(kept + wanted);
  const size_t got = std::fread(buffer_.data() + kept, 1, wanted, file_.get());
  if (got < wanted) {
    throw sdk::Error(PRISM_STATUS_DATA_LOSS, path_ + ": cannot be read to its end");
  }
  left_ -= wanted;
}

std::string MessageFile::place() const {
  return path_ + ": message " + std::to_string(number_) + " (byte " + std::to_string(at_) + ")";
}

void MessageFile::fail(prism_status_t code, const std::string& what) const {
  throw sdk::Error(code, place() + " " + what);
}

}  // namespace prism::chakra
