// SPDX-License-Identifier: Apache-2.0
#include "core/graph/file/numbers.hpp"

#include <algorithm>
#include <bit>

#include "core/graph/file/bytes.hpp"

namespace prism::graph::file {
namespace {

/// Planes that are shorter are left together: a block of their own would cost more than it saves.
constexpr size_t kSmallestCut = 512;

/// What a rule leaves, and how much that is.
struct Rest {
  Rule rule = Rule::Offset;
  uint64_t base = 0;
  std::vector<uint64_t> numbers;
  uint32_t width = 0;
  uint64_t bits = 0;  ///< of all numbers together
};

void measure(Rest& rest) {
  uint64_t all = 0;
  for (const uint64_t number : rest.numbers) {
    all |= number;
    rest.bits += static_cast<uint64_t>(std::bit_width(number));
  }
  rest.width = (static_cast<uint32_t>(std::bit_width(all)) + 7) / 8;
}

Rest offsets(std::span<const uint64_t> values) {
  Rest rest;
  rest.base = values.empty() ? 0 : *std::min_element(values.begin(), values.end());
  rest.numbers.reserve(values.size());
  for (const uint64_t value : values) {
    rest.numbers.push_back(value - rest.base);
  }
  measure(rest);
  return rest;
}

/// Steps from what comes before: the value before, or that of the reference.
Rest steps(std::span<const uint64_t> values, std::span<const uint64_t> reference) {
  Rest rest;
  rest.rule = reference.empty() ? Rule::Delta : Rule::Reference;
  // The step that is most often right leaves nothing: of a sequence 1, of a reference 0.
  if (reference.empty() && values.size() > 1) {
    rest.base = values[1] - values[0];
  }
  rest.numbers.reserve(values.size());
  uint64_t before = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    rest.numbers.push_back(
        zigzag(values[i] - (reference.empty() ? before : reference[i]) - rest.base));
    before = values[i];
  }
  measure(rest);
  return rest;
}

template <typename Restore>
void decode_planes(uint32_t width, const char* planes, std::span<uint64_t> values,
                   Restore restore) {
  const size_t n = values.size();
  const auto plane = [&](size_t p, size_t i) {
    return uint64_t{static_cast<uint8_t>(planes[p * n + i])} << (8 * p);
  };
  switch (width) {  // the common widths without a loop inside
    case 0:
      for (size_t i = 0; i < n; ++i) {
        restore(i, 0);
      }
      return;
    case 1:
      for (size_t i = 0; i < n; ++i) {
        restore(i, plane(0, i));
      }
      return;
    case 2:
      for (size_t i = 0; i < n; ++i) {
        restore(i, plane(0, i) | plane(1, i));
      }
      return;
    case 3:
      for (size_t i = 0; i < n; ++i) {
        restore(i, plane(0, i) | plane(1, i) | plane(2, i));
      }
      return;
    default:
      for (size_t i = 0; i < n; ++i) {
        uint64_t rest = 0;
        for (size_t p = 0; p < width; ++p) {
          rest |= plane(p, i);
        }
        restore(i, rest);
      }
  }
}

}  // namespace

void append_numbers(std::string& out, std::vector<size_t>& cuts, std::span<const uint64_t> values,
                    std::span<const uint64_t> reference) {
  Rest best = offsets(values);
  Rest other = steps(values, reference);
  if (other.bits < best.bits) {
    std::swap(best, other);
  }
  out += static_cast<char>(best.rule);
  out += static_cast<char>(best.width);
  append_number(out, best.base);
  for (uint32_t p = 0; p < best.width; ++p) {
    if (values.size() >= kSmallestCut) {
      cuts.push_back(out.size());
    }
    for (const uint64_t number : best.numbers) {
      out += static_cast<char>(number >> (8 * p) & 0xffU);
    }
  }
  if (best.width > 0 && values.size() >= kSmallestCut) {
    cuts.push_back(out.size());
  }
}

void decode_numbers(const NumbersHead& head, std::string_view planes,
                    std::span<const uint64_t> reference, std::span<uint64_t> values) {
  const uint64_t base = head.base;
  switch (static_cast<Rule>(head.rule)) {
    case Rule::Offset:
      decode_planes(head.width, planes.data(), values,
                    [&](size_t i, uint64_t rest) { values[i] = base + rest; });
      return;
    case Rule::Delta: {
      uint64_t before = 0;
      decode_planes(head.width, planes.data(), values, [&](size_t i, uint64_t rest) {
        before += base + unzigzag(rest);
        values[i] = before;
      });
      return;
    }
    case Rule::Reference:
      decode_planes(head.width, planes.data(), values, [&](size_t i, uint64_t rest) {
        values[i] = reference[i] + base + unzigzag(rest);
      });
      return;
  }
}

}  // namespace prism::graph::file
