// SPDX-License-Identifier: Apache-2.0
/// What must hold of the decoder for any bytes. Used by the fuzzer and by the mutation test.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "prism/wire/agent.hpp"

namespace prism::wire {

struct Decoded {
  std::vector<Frame> frames;
  std::string error;
  size_t pending = 0;
  bool operator==(const Decoded&) const = default;
};

/// Feeds `bytes` in pieces of `piece` bytes.
inline Decoded decode_in_pieces(std::string_view bytes, size_t piece) {
  Decoded decoded;
  Decoder decoder;
  while (!bytes.empty()) {
    const size_t size = std::min(piece, bytes.size());
    decoder.feed(bytes.data(), size);
    bytes.remove_prefix(size);
    while (auto frame = decoder.next()) {
      decoded.frames.push_back(*std::move(frame));
    }
  }
  decoded.error = decoder.error();
  decoded.pending = decoder.pending();
  return decoded;
}

/// Decodes `bytes` and says which rule is broken; empty: none.
inline std::string broken_rule(std::string_view bytes) {
  const Decoded whole = decode_in_pieces(bytes, bytes.size());
  if (whole != decode_in_pieces(bytes, 1 + bytes.size() % 13)) {
    return "the result depends on how the stream is cut";
  }
  std::string again;
  for (const Frame& frame : whole.frames) {
    if (!encode(frame, again)) {
      return "an accepted frame cannot be encoded";
    }
  }
  if (again != bytes.substr(0, again.size())) {
    return "an accepted frame is not what encode gives";
  }
  if (whole.error.empty() ? again.size() + whole.pending != bytes.size() : whole.pending != 0) {
    return "bytes are lost";
  }
  return {};
}

}  // namespace prism::wire
