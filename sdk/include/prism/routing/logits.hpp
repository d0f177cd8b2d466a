// SPDX-License-Identifier: Apache-2.0
/// From an assignment to router logits that lead to it, for a gate that takes the top k of their
/// softmax at temperature 1 (or of the logits themselves).
///
/// A token's experts get 8 and a bit: bf16 numbers in a row, 1/16 apart, the first expert the
/// highest. The others get bf16 numbers below 1, all different; which of them is random per token.
/// With 128 experts and top-8 the token's experts have 99.1 % of the softmax, the first 15 % and
/// the last 10 %; with 256 experts and top-8 98.5 % together.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
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
           " tokens, top " + std::to_string(shape.top_k) + " of " + std::to_string(shape.experts) +
           " experts";
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

/// A bf16 number as an integer of the same order; both zeros are the same.
constexpr uint32_t order_of(uint16_t bf16) noexcept {
  return (bf16 & 0x8000) != 0 ? 0x8000U - (bf16 & 0x7fffU) : 0x8000U + bf16;
}
/// The same of an f32 number, rounded to bf16 (to nearest, ties to even).
inline uint32_t order_of(float f32) noexcept {
  constexpr uint32_t kExponent = 0x7f800000;
  const auto bits = std::bit_cast<uint32_t>(f32);
  if ((bits & kExponent) == kExponent) {
    return order_of(uint16_t{0x7f80});
  }
  return order_of(static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16));
}

template <typename Logit>
std::string check_logits(const Shape& shape, std::span<const uint32_t> assignment,
                         std::span<const Logit> logits) {
  constexpr uint32_t kInfinity = 0x7f80;
  std::vector<uint64_t> next_token(1 << 16);  // after the last one with a logit of this order
  for (uint64_t token = 0; token < shape.tokens; ++token) {
    const auto where = [&] { return "token " + std::to_string(token) + ": "; };
    const auto row = logits.subspan(static_cast<size_t>(token * shape.experts), shape.experts);
    const auto chosen = assignment.subspan(static_cast<size_t>(token * shape.top_k), shape.top_k);
    const uint32_t least = order_of(row[chosen.back()]);
    uint32_t above = 0;
    for (uint32_t expert = 0; expert < shape.experts; ++expert) {
      const uint32_t order = order_of(row[expert]);
      if (order <= 0x8000 - kInfinity || order >= 0x8000 + kInfinity) {
        return where() + "the logit of expert " + std::to_string(expert) + " is not finite";
      }
      if (std::exchange(next_token[order], token + 1) == token + 1) {
        return where() + "the logit of expert " + std::to_string(expert) +
               " equals that of another one in bf16";
      }
      above += order > least ? 1 : 0;
    }
    for (size_t i = 1; i < chosen.size(); ++i) {
      if (order_of(row[chosen[i - 1]]) <= order_of(row[chosen[i]])) {
        return where() + "the logit of expert " + std::to_string(chosen[i]) +
               " is above that of expert " + std::to_string(chosen[i - 1]) +
               ", which the assignment has before it";
      }
    }
    if (above != shape.top_k - 1) {
      return where() +
             "the logit of an expert that the assignment does not have is above that of "
             "expert " +
             std::to_string(chosen.back()) + ", which it has";
    }
  }
  return {};
}

}  // namespace detail

/// Whether these logits, row-major [tokens, experts], lead to the assignment: finite, without ties
/// in bf16, the experts of each token on top in their order. Returns why not, or "". For an
/// assignment that check_assignment accepts, and as many logits as there must be. Any thread.
/// Throws std::bad_alloc.
inline std::string check_logits(const Shape& shape, std::span<const uint32_t> assignment,
                                std::span<const uint16_t> bf16) {
  return detail::check_logits(shape, assignment, bf16);
}
inline std::string check_logits(const Shape& shape, std::span<const uint32_t> assignment,
                                std::span<const float> f32) {
  return detail::check_logits(shape, assignment, f32);
}

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
