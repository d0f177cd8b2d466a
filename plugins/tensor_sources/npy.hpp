// SPDX-License-Identifier: Apache-2.0
/// Headers of NumPy's .npy files, versions 1 to 3. The bytes are untrusted.
#pragma once

#include <cstdint>
#include <string_view>

namespace prism::tensor_sources {

struct NpyHeader {
  int32_t dtype = 0;      ///< PRISM_DTYPE_
  uint64_t elements = 0;  ///< elements * element size fits into 63 bits
  uint64_t data_at = 0;   ///< where the elements begin
};

/// The longest header that is read, from the start of the file.
inline constexpr uint64_t kMaxNpyHeader = 65536;

/// Whether a file that begins like this says that it is a .npy file.
bool is_npy(std::string_view begin);

/// `begin`: the first kMaxNpyHeader bytes of the file, or all of it. Throws sdk::Error
/// INVALID_ARGUMENT: what is wrong with the header, or cannot be used (elements of another byte
/// order, Fortran order, objects).
NpyHeader read_npy_header(std::string_view begin);

}  // namespace prism::tensor_sources
