// SPDX-License-Identifier: Apache-2.0
/// From an assignment to router logits that lead to it, for a gate that takes the top k of their
/// softmax at temperature 1 (or of the logits themselves).
///
/// A token's experts get 8 and a bit: bf16 numbers in a row, 1/16 apart, the first expert the
/// highest. The others get bf16 numbers below 1, all different; which of them is random per token.
/// With 128 experts and top-8 the token's experts have 99.1 % of the softmax, the first 14 % and
/// the last 9 %; with 256 experts and top-8 98.5 % together.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "prism/routing/shape.hpp"
#include "prism/sdk/random.hpp"

namespace prism::routing {

/// There are not more numbers of bf16 for more, apart from those that hardware may take for 0.
constexpr uint32_t kMostLogits = 16000;

namespace detail {

/// The number with this bf16 code; as bf16 (the code itself) or as f32.
template <typename Logit>
constexpr Logit logit_of(uint32_t code) noexcept {
  if constexpr (std::is_same_v<Logit, float>) {
    return std::bit_cast<float>(code << 16);
  } else {
    return static_cast<Logit>(code);
  }
}

template <typename Logit>
std::string write_logits(const Shape& shape, std::span<const uint32_t> assignment,
                         std::span<Logit> out) {
  constexpr uint32_t kEight = 0x4100;
  constexpr uint32_t kBelowOne = 0x3f7f;
  std::string problem = check_shape(shape);
  if (!problem.empty()) {
    return problem;
  }
  if (shape.experts > kMostLogits) {
    return "logits without ties in bf16 exist for at most " + std::to_string(kMostLogits) +
           " experts, not for " + std::to_string(shape.experts);
  }
  if (assignment.size() != shape.tokens * shape.top_k ||
      out.size() != shape.tokens * shape.experts) {
    return "an assignment of " + std::to_string(assignment.size()) + " and logits of " +
           std::to_string(out.size()) + " numbers do not fit " + std::to_string(shape.tokens) +
           " tokens, top " + std::to_string(shape.top_k) + " of " +
           std::to_string(shape.experts) + " experts";
  }
  // Every window of `experts` numbers has them all, from another one on.
  std::vector<Logit> others(size_t{shape.experts} * 2);
  for (uint32_t i = 0; i < shape.experts; ++i) {
    others[i] = others[shape.experts + i] = logit_of<Logit>(kBelowOne - i);
  }
  std::vector<Logit> chosen(shape.top_k);
  for (uint32_t i = 0; i < shape.top_k; ++i) {
    chosen[i] = logit_of<Logit>(kEight + shape.top_k - 1 - i);
  }
  const uint32_t* expert = assignment.data();
  Logit* row = out.data();
  for (uint64_t token = 0; token < shape.tokens; ++token, row += shape.experts) {
    const uint64_t start = ((sdk::scramble(token) >> 32) * shape.experts) >> 32;
    std::copy_n(others.data() + start, shape.experts, row);
    for (uint32_t i = 0; i < shape.top_k; ++i) {
      row[*expert++] = chosen[i];
    }
  }
  return {};
}

}  // namespace detail

/// Writes logits, row-major [tokens, experts], as bf16 codes or as f32 numbers that bf16 can hold.
/// For each token its experts of `assignment` are on top, in their order; no two logits of a token
/// are equal. Up to top-384 this also holds for their softmax in f32.
///
/// Returns why not, or "": shape or sizes that do not fit, more than kMostLogits experts.
/// `assignment` has different experts below shape.experts in each token, as assign() makes it. Any
/// thread. Throws std::bad_alloc.
[[nodiscard]] inline std::string logits(const Shape& shape, std::span<const uint32_t> assignment,
                                        std::span<uint16_t> bf16) {
  return detail::write_logits(shape, assignment, bf16);
}
[[nodiscard]] inline std::string logits(const Shape& shape, std::span<const uint32_t> assignment,
                                        std::span<float> f32) {
  return detail::write_logits(shape, assignment, f32);
}

}  // namespace prism::routing
