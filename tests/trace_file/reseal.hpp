// SPDX-License-Identifier: Apache-2.0
/// Puts right the checksums of a .prism file that was changed, so that the change reaches what
/// stands behind them. Written from docs/prismtrace.md, not from the code.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <xxhash.h>

namespace prism::trace_file {

namespace detail {

inline uint64_t number_at(const std::string& bytes, size_t at) {
  uint64_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

inline void put_hash(std::string& bytes, size_t at, size_t begin, size_t size) {
  const uint64_t hash = XXH64(bytes.data() + begin, size, 0);
  std::memcpy(bytes.data() + at, &hash, sizeof hash);
}

/// The block whose trailer is at `trailer`; the offset of the trailer before, 0: none or nonsense.
inline uint64_t reseal_block(std::string& bytes, uint64_t trailer) {
  const uint64_t directory = number_at(bytes, trailer);
  if (directory > trailer) {
    return 0;
  }
  for (uint64_t entry = directory; entry + 48 <= trailer; entry += 48) {
    const uint64_t offset = number_at(bytes, entry + 16);
    const uint64_t size = number_at(bytes, entry + 24);
    if (offset <= bytes.size() && size <= bytes.size() - offset) {
      put_hash(bytes, entry + 40, offset, size);
    }
  }
  put_hash(bytes, trailer + 16, directory, trailer - directory);
  put_hash(bytes, trailer + 40, trailer, 40);
  const uint64_t previous = number_at(bytes, trailer + 24);
  return previous < trailer ? previous : 0;
}

}  // namespace detail

inline void reseal(std::string& bytes) {
  if (bytes.size() < 32) {
    return;
  }
  detail::put_hash(bytes, 24, 0, 24);
  for (uint64_t trailer = bytes.size() < 48 ? 0 : bytes.size() - 48; trailer != 0;) {
    trailer = detail::reseal_block(bytes, trailer);
  }
}

}  // namespace prism::trace_file
