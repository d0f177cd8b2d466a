// SPDX-License-Identifier: Apache-2.0
/// The bytes of a file, decompressed where it is a .gz, from its begin to its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace prism::kineto {

class Source {
 public:
  virtual ~Source() = default;
  /// Up to `size` bytes; 0: the end. Throws sdk::Error DATA_LOSS for what cannot be read or
  /// decompressed.
  virtual size_t read(char* to, size_t size) = 0;
};

/// Throws sdk::Error: NOT_FOUND, or INVALID_ARGUMENT for what is no regular file.
std::unique_ptr<Source> open_source(const std::string& path);

}  // namespace prism::kineto
