// SPDX-License-Identifier: Apache-2.0
#include "input_file.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <zlib.h>

#include "prism/sdk/error.hpp"

namespace prism::microbatch {
namespace {

constexpr std::string_view kMark = "\xef\xbb\xbf";
constexpr size_t kLongestLine = 64 * 1024;
constexpr unsigned kBuffer = 256 * 1024;

}  // namespace

InputFile::InputFile(const std::string& path) : path_(path) {
  errno = 0;
  file_ = gzopen(path.c_str(), "rb");
  if (file_ == nullptr) {
    const int error = errno != 0 ? errno : ENOMEM;
    throw sdk::Error(PRISM_STATUS_NOT_FOUND,
                     path + ": cannot be opened: " + std::generic_category().message(error));
  }
  gzbuffer(file_, kBuffer);
}

InputFile::~InputFile() {
  gzclose(file_);
}

size_t InputFile::read(std::span<char> buffer) {
  size_t got = fill(buffer);
  if (!begun_ && std::string_view(buffer.data(), got).starts_with(kMark)) {
    const std::span<char> text = buffer.first(got).subspan(kMark.size());
    std::copy(text.begin(), text.end(), buffer.begin());
    got -= kMark.size();
    got += fill(buffer.subspan(got));
  }
  begun_ = true;
  return got;
}

size_t InputFile::fill(std::span<char> buffer) {
  size_t filled = 0;
  while (filled < buffer.size()) {
    const int got =
        gzread(file_, buffer.data() + filled,
               static_cast<unsigned>(std::min<size_t>(buffer.size() - filled, kBuffer)));
    int error = Z_OK;
    const char* why = gzerror(file_, &error);
    if (got < 0 || (got == 0 && error != Z_OK && error != Z_STREAM_END)) {
      throw sdk::Error(PRISM_STATUS_DATA_LOSS,
                       path_ + ": is cut or damaged: " +
                           (error == Z_ERRNO ? std::generic_category().message(errno) : why));
    }
    if (got == 0) {
      break;
    }
    filled += static_cast<size_t>(got);
  }
  return filled;
}

bool InputFile::line(std::string_view& line) {
  size_t end = text_.find('\n', begin_);
  if (end == std::string::npos && !at_end_) {
    text_.erase(0, begin_);
    begin_ = 0;
    const size_t kept = text_.size();
    text_.resize(kept + kBuffer);
    const size_t got = read(std::span(text_).subspan(kept));
    at_end_ = got < kBuffer;
    text_.resize(kept + got);
    end = text_.find('\n', kept);
  }
  if (end == std::string::npos) {
    end = text_.size();
    if (begin_ == end) {
      return false;
    }
  }
  ++line_number_;
  if (end - begin_ > kLongestLine) {
    throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                     path_ + ":" + std::to_string(line_number_) +
                         ": a line of more than 64 KiB; rows of numbers were expected");
  }
  line = std::string_view(text_).substr(begin_, end - begin_);
  begin_ = std::min(end + 1, text_.size());
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  return true;
}

}  // namespace prism::microbatch
