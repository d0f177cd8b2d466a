// SPDX-License-Identifier: Apache-2.0
#include "core/config/suggest.hpp"

#include <algorithm>
#include <vector>

namespace prism::config {

size_t edit_distance(std::string_view a, std::string_view b, size_t limit) {
  size_t difference = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (difference > limit) {
    return limit + 1;
  }
  // Three rows of the table: i - 2, i - 1 and i.
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> above(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) {
    above[j] = j;
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return std::min(above[b.size()], limit + 1);
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  size_t limit = std::max<size_t>(1, word.size() / 3);
  std::string_view best;
  for (std::string_view candidate : candidates) {
    // A one-letter word is within one edit of every other one.
    if (limit >= std::max(word.size(), candidate.size())) {
      continue;
    }
    size_t distance = edit_distance(word, candidate, limit);
    if (distance <= limit) {
      best = candidate;
      if (distance == 0) {
        break;
      }
      limit = distance - 1;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr size_t kMaxListed = 9;
  std::string_view near = nearest(word, candidates);
  if (!near.empty()) {
    return "did you mean '" + std::string(near) + "'?";
  }
  if (candidates.empty() || candidates.size() > kMaxListed) {
    return {};
  }
  std::string text = candidates.size() == 1 ? "there is only " : "choose from ";
  for (size_t i = 0; i < candidates.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::string(candidates[i]);
  }
  return text;
}

}  // namespace prism::config
