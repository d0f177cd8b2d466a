// SPDX-License-Identifier: Apache-2.0
/// 64 bytes of JSON at a time: what of them is structure, as bit masks (bit i: byte i).
#pragma once

#include <cstddef>
#include <cstdint>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace prism::kineto {

inline constexpr size_t kBlock = 64;

struct BlockMasks {
  uint64_t quotes = 0;
  uint64_t backslashes = 0;
  uint64_t opens = 0;   ///< { [
  uint64_t closes = 0;  ///< } ]
  uint64_t words = 0;   ///< I i N n: where words may begin that JSON does not have
};

#if defined(__SSE2__)
inline BlockMasks classify(const char* bytes) {
  BlockMasks masks;
  for (unsigned i = 0; i < 4; ++i) {
    const __m128i piece = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 16 * i));
    const auto mask = [i](__m128i equal) {
      return static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(equal))) << (16 * i);
    };
    const auto is = [](__m128i of, char c) { return _mm_cmpeq_epi8(of, _mm_set1_epi8(c)); };
    // Braces and brackets, as small and capital letters, differ in one bit.
    const __m128i folded = _mm_and_si128(piece, _mm_set1_epi8(static_cast<char>(0xdf)));
    masks.quotes |= mask(is(piece, '"'));
    masks.backslashes |= mask(is(piece, '\\'));
    masks.opens |= mask(is(folded, '['));
    masks.closes |= mask(is(folded, ']'));
    masks.words |= mask(_mm_or_si128(is(folded, 'N'), is(folded, 'I')));
  }
  return masks;
}
#else
inline BlockMasks classify(const char* bytes) {
  BlockMasks masks;
  for (size_t i = 0; i < kBlock; ++i) {
    const char c = bytes[i];
    const uint64_t bit = uint64_t{1} << i;
    masks.quotes |= c == '"' ? bit : 0;
    masks.backslashes |= c == '\\' ? bit : 0;
    masks.opens |= c == '[' || c == '{' ? bit : 0;
    masks.closes |= c == ']' || c == '}' ? bit : 0;
    masks.words |= c == 'N' || c == 'n' || c == 'I' || c == 'i' ? bit : 0;
  }
  return masks;
}
#endif

/// Follows strings over blocks.
class StringState {
 public:
  /// Bytes of the block that stand in a string (its first quote included, its last not).
  uint64_t inside(const BlockMasks& masks) {
    uint64_t quotes = masks.quotes & ~escaped(masks.backslashes);
    for (unsigned shift = 1; shift < 64; shift *= 2) {
      quotes ^= quotes << shift;
    }
    quotes ^= in_string_;
    in_string_ = quotes >> 63 != 0 ? ~uint64_t{0} : 0;
    return quotes;
  }

 private:
  uint64_t escaped(uint64_t backslashes) {
    uint64_t result = escape_next_ ? 1 : 0;
    escape_next_ = false;
    while (backslashes != 0) {
      const uint64_t lowest = backslashes & (~backslashes + 1);
      backslashes ^= lowest;
      if ((result & lowest) != 0) {
        continue;
      }
      if (lowest >> 63 != 0) {
        escape_next_ = true;
      } else {
        result |= lowest << 1;
      }
    }
    return result;
  }

  uint64_t in_string_ = 0;
  bool escape_next_ = false;
};

}  // namespace prism::kineto
