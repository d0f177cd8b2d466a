// SPDX-License-Identifier: Apache-2.0
/// A column of numbers as the file has it: what little is left of each after a rule has been taken
/// off, in planes of bytes. docs/prismtrace.md, "Columns".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prism::graph::file {

enum class Rule : uint8_t {
  Offset = 0,     ///< value = base + rest
  Delta = 1,      ///< value = value before (0 for the first) + base + unzigzag(rest)
  Reference = 2,  ///< value = value of the reference + base + unzigzag(rest)
};

inline constexpr size_t kColumnHeadBytes = 10;  ///< rule u8, width u8, base u64

/// Appends the column with the rule that leaves least. `reference` is empty or as long as `values`.
/// `cuts` gets the places in `out` where bytes of another nature begin.
void append_numbers(std::string& out, std::vector<size_t>& cuts, std::span<const uint64_t> values,
                    std::span<const uint64_t> reference);

/// What a column says of itself.
struct NumbersHead {
  uint8_t rule = 0;
  uint8_t width = 0;  ///< planes
  uint64_t base = 0;
};

/// Fills `values` from `planes`, head.width times values.size() bytes; the head has been checked.
void decode_numbers(const NumbersHead& head, std::string_view planes,
                    std::span<const uint64_t> reference, std::span<uint64_t> values);

}  // namespace prism::graph::file
