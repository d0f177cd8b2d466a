// SPDX-License-Identifier: Apache-2.0
/// What the tokens of one rank look like to a mixture-of-experts layer, and what counts per expert
/// and an assignment of tokens must obey. Every check_ function returns why not, or "" when all is
/// well. No state, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace prism::routing {

/// `tokens` tokens, each of which goes to `top_k` different experts of `experts`.
struct Shape {
  uint64_t tokens = 0;
  uint32_t experts = 1;
  uint32_t top_k = 1;
};

inline std::string check_shape(const Shape& shape) {
  if (shape.experts == 0) {
    return "there is no expert; a layer has at least 1";
  }
  if (shape.top_k == 0 || shape.top_k > shape.experts) {
    return "each token goes to " + std::to_string(shape.top_k) + " different experts of " +
           std::to_string(shape.experts) + "; it must be 1 to " + std::to_string(shape.experts);
  }
  if (shape.tokens > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) / shape.experts) {
    return std::to_string(shape.tokens) + " tokens are more than can be counted";
  }
  return {};
}

/// Whether an assignment with these numbers of tokens per expert exists: each at most `tokens`,
/// their sum tokens * top_k.
inline std::string check_counts(const Shape& shape, std::span<const uint64_t> counts) {
  const std::string problem = check_shape(shape);
  if (!problem.empty()) {
    return problem;
  }
  if (counts.size() != shape.experts) {
    return "there are " + std::to_string(counts.size()) + " counts for " +
           std::to_string(shape.experts) + " experts";
  }
  uint64_t sum = 0;
  for (size_t expert = 0; expert < counts.size(); ++expert) {
    if (counts[expert] > shape.tokens) {
      return "expert " + std::to_string(expert) + " gets " + std::to_string(counts[expert]) +
             " tokens, but there are only " + std::to_string(shape.tokens);
    }
    sum += counts[expert];  // cannot overflow: at most tokens * experts
  }
  const uint64_t expected = shape.tokens * shape.top_k;
  if (sum != expected) {
    return "the counts of the experts add up to " + std::to_string(sum) + ", but " +
           std::to_string(shape.tokens) + " tokens to " + std::to_string(shape.top_k) +
           " experts each make " + std::to_string(expected);
  }
  return {};
}

/// Whether `assignment`, the experts of token t at t * top_k, has different experts in each token
/// and each expert as often as `counts` says. For counts that check_counts accepts.
inline std::string check_assignment(const Shape& shape, std::span<const uint64_t> counts,
                                    std::span<const uint32_t> assignment) {
  if (assignment.size() != shape.tokens * shape.top_k) {
    return "the assignment has " + std::to_string(assignment.size()) + " numbers, not " +
           std::to_string(shape.tokens * shape.top_k);
  }
  struct Seen {
    uint64_t times = 0;
    uint64_t next_token = 0;  // after the last one with this expert
  };
  std::vector<Seen> seen(shape.experts);
  const uint32_t* expert = assignment.data();
  for (uint64_t token = 0; token < shape.tokens; ++token) {
    for (uint32_t i = 0; i < shape.top_k; ++i, ++expert) {
      if (*expert >= shape.experts) {
        return "token " + std::to_string(token) + " goes to expert " + std::to_string(*expert) +
               ", but there are only " + std::to_string(shape.experts);
      }
      Seen& s = seen[*expert];
      if (s.next_token == token + 1) {
        return "token " + std::to_string(token) + " goes to expert " + std::to_string(*expert) +
               " twice";
      }
      s.next_token = token + 1;
      ++s.times;
    }
  }
  for (uint32_t e = 0; e < shape.experts; ++e) {
    if (seen[e].times != counts[e]) {
      return "expert " + std::to_string(e) + " gets " + std::to_string(seen[e].times) +
             " tokens, its count is " + std::to_string(counts[e]);
    }
  }
  return {};
}

}  // namespace prism::routing
