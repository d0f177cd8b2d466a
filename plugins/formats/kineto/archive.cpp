// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/kineto/archive.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include "prism/sdk/error.hpp"

namespace prism::kineto {
namespace {

constexpr size_t kBlock = 512;  // of a tar
using Block = std::array<char, kBlock>;

/// Up to a whole block; the number of bytes.
size_t read_block(Source& source, Block& block) {
  size_t size = 0;
  while (size < kBlock) {
    const size_t got = source.read(block.data() + size, kBlock - size);
    if (got == 0) {
      break;
    }
    size += got;
  }
  return size;
}

/// A file whose first bytes have been read already.
class Peeked final : public Source {
 public:
  Peeked(std::string_view head, Source& rest) : head_(head), rest_(rest) {}
  size_t read(char* to, size_t size) override {
    if (head_.empty()) {
      return rest_.read(to, size);
    }
    const size_t got = std::min(size, head_.size());
    std::memcpy(to, head_.data(), got);
    head_.remove_prefix(got);
    return got;
  }

 private:
  std::string_view head_;
  Source& rest_;
};

/// The next `size` bytes of an archive.
class Entry final : public Source {
 public:
  Entry(Source& archive, uint64_t size) : archive_(archive), left_(size) {}
  size_t read(char* to, size_t size) override {
    const size_t got =
        left_ == 0 ? 0 : archive_.read(to, static_cast<size_t>(std::min<uint64_t>(size, left_)));
    left_ -= got;
    return got;
  }
  uint64_t left() const { return left_; }

 private:
  Source& archive_;
  uint64_t left_;
};

/// Text or octal number of a header, up to its first NUL.
std::string_view field(const Block& header, size_t at, size_t size) {
  const std::string_view text(header.data() + at, size);
  return text.substr(0, text.find('\0'));
}

uint64_t octal(std::string_view text, const std::string& path) {
  uint64_t number = 0;
  for (const char c : text) {
    if (c == ' ') {
      continue;
    }
    if (c < '0' || c > '7') {
      throw sdk::Error(PRISM_STATUS_DATA_LOSS,
                       "the archive '" + path + "' has an entry whose header is damaged");
    }
    number = number * 8 + static_cast<uint64_t>(c - '0');  // at most 12 digits
  }
  return number;
}

bool is_tar(const Block& block, size_t size) {
  return size == kBlock && std::memcmp(block.data() + 257, "ustar", 5) == 0;
}

void check_sum(const Block& header, const std::string& path) {
  uint64_t sum = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    const bool own = i >= 148 && i < 156;  // counts as spaces
    sum += own ? ' ' : static_cast<unsigned char>(header[i]);
  }
  if (sum != octal(field(header, 148, 8), path)) {
    throw sdk::Error(PRISM_STATUS_DATA_LOSS,
                     "the archive '" + path + "' has an entry whose header is damaged");
  }
}

void skip(Source& source, uint64_t bytes, const std::string& path) {
  std::vector<char> piece(64 * 1024);
  while (bytes > 0) {
    const size_t got =
        source.read(piece.data(), static_cast<size_t>(std::min<uint64_t>(bytes, piece.size())));
    if (got == 0) {
      throw sdk::Error(PRISM_STATUS_DATA_LOSS,
                       "the archive '" + path + "' ends in the middle of an entry");
    }
    bytes -= got;
  }
}

bool holds_trace(const std::string& name, char type) {
  const std::string_view file = std::string_view(name).substr(name.find_last_of('/') + 1);
  return (type == '0' || type == '\0') && file.find(".json") != std::string_view::npos &&
         !file.starts_with("._");  // of another system's tar
}

}  // namespace

void for_each_trace(const std::string& path, const TraceVisitor& visit) {
  const std::unique_ptr<Source> source = open_source(path);
  Block header{};
  size_t size = read_block(*source, header);
  if (!is_tar(header, size)) {
    Peeked whole({header.data(), size}, *source);
    visit({}, whole);
    return;
  }
  bool found = false;
  while (is_tar(header, size)) {
    check_sum(header, path);
    const std::string name(field(header, 0, 100));
    const uint64_t bytes = octal(field(header, 124, 12), path);
    Entry entry(*source, bytes);
    if (holds_trace(name, header[156])) {
      found = true;
      visit(name, entry);
    }
    skip(*source, entry.left() + (kBlock - bytes % kBlock) % kBlock, path);
    size = read_block(*source, header);
  }
  if (std::any_of(header.begin(), header.begin() + static_cast<ptrdiff_t>(size),
                  [](char c) { return c != '\0'; })) {
    throw sdk::Error(PRISM_STATUS_DATA_LOSS,
                     "the archive '" + path + "' has an entry whose header is damaged");
  }
  if (!found) {
    throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                     "the archive '" + path + "' has no entry with .json in its name");
  }
}

uint64_t line_of(const std::string& path, const std::string& entry, uint64_t at) {
  uint64_t line = 1;
  bool seen = false;
  for_each_trace(path, [&](const std::string& name, Source& source) {
    if (seen || name != entry) {
      return;
    }
    seen = true;
    std::vector<char> piece(256 * 1024);
    while (at > 0) {
      const size_t got =
          source.read(piece.data(), static_cast<size_t>(std::min<uint64_t>(at, piece.size())));
      if (got == 0) {
        break;
      }
      line += static_cast<uint64_t>(
          std::count(piece.begin(), piece.begin() + static_cast<ptrdiff_t>(got), '\n'));
      at -= got;
    }
  });
  return line;
}

}  // namespace prism::kineto
