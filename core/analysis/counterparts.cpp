// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/counterparts.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace prism::analysis {
namespace {

using graph::kNone;
using graph::Program;
using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

uint64_t mixed(uint64_t hash, uint64_t value) {
  return (hash ^ (value + 0x9e3779b97f4a7c15U + (hash << 6U) + (hash >> 2U))) * 0x100000001b3U;
}

Pairs nth_to_nth(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  std::unordered_map<uint64_t, std::vector<uint32_t>> places;
  for (uint32_t i = 0; i < a.size(); ++i) {
    places[a[i]].push_back(i);
  }
  std::unordered_map<uint64_t, size_t> used;
  Pairs pairs;
  for (uint32_t j = 0; j < b.size(); ++j) {
    const auto its = places.find(b[j]);
    const size_t n = used[b[j]]++;
    if (its != places.end() && n < its->second.size()) {
      pairs.emplace_back(its->second[n], j);
    }
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

/// The greedy algorithm of Myers on what remains between a common beginning and a common end.
class ShortestEdit {
 public:
  ShortestEdit(const uint64_t* a, int32_t n, const uint64_t* b, int32_t m)
      : a_(a), b_(b), n_(n), m_(m) {}

  /// Whether it takes at most `most` edits.
  bool run(int32_t most) {
    reached_.assign(2 * static_cast<size_t>(most) + 3, 0);
    middle_ = most + 1;
    for (int32_t d = 0; d <= most; ++d) {
      for (int32_t k = -d; k <= d; k += 2) {
        int32_t x = goes_down(k, d, reached_, middle_) ? at(k + 1) : at(k - 1) + 1;
        while (x < n_ && x - k < m_ && a_[x] == b_[x - k]) {
          ++x;
        }
        at(k) = x;
        if (x >= n_ && x - k >= m_) {
          keep(d);
          edits_ = d;
          return true;
        }
      }
      keep(d);
    }
    return false;
  }

  /// Places of equal entries, ascending.
  Pairs pairs() const {
    Pairs pairs;
    int32_t x = n_;
    int32_t y = m_;
    for (int32_t d = edits_; d > 0; --d) {
      const std::vector<int32_t>& before = rows_[static_cast<size_t>(d) - 1];
      const int32_t k = x - y;
      const bool down = goes_down(k, d, before, d - 1);
      const int32_t from_k = down ? k + 1 : k - 1;
      const int32_t from_x = before[place(from_k, d - 1)];
      const int32_t start = down ? from_x : from_x + 1;
      for (; x > start; --x, --y) {
        pairs.emplace_back(x - 1, y - 1);
      }
      x = from_x;
      y = from_x - from_k;
    }
    for (; x > 0; --x, --y) {
      pairs.emplace_back(x - 1, y - 1);
    }
    std::reverse(pairs.begin(), pairs.end());
    return pairs;
  }

 private:
  /// Where a row whose diagonal 0 is at `middle` has diagonal `k`.
  static size_t place(int32_t k, int32_t middle) {
    const int32_t index = k + middle;
    return static_cast<size_t>(index);
  }
  int32_t& at(int32_t k) { return reached_[place(k, middle_)]; }
  /// Diagonal `k` of round `d` is reached from the one above, by leaving out an entry of b.
  static bool goes_down(int32_t k, int32_t d, const std::vector<int32_t>& row, int32_t middle) {
    return k == -d || (k != d && row[place(k - 1, middle)] < row[place(k + 1, middle)]);
  }
  void keep(int32_t d) {
    rows_.emplace_back(reached_.begin() + (middle_ - d), reached_.begin() + (middle_ + d + 1));
  }

  const uint64_t* a_;
  const uint64_t* b_;
  int32_t n_;
  int32_t m_;
  int32_t edits_ = 0;
  int32_t middle_ = 0;
  std::vector<int32_t> reached_;            ///< by diagonal: how far in a
  std::vector<std::vector<int32_t>> rows_;  ///< the same after each round, diagonals -d to d
};

struct LaneTokens {
  std::vector<uint32_t> nodes;
  std::vector<uint64_t> tokens;
  std::map<uint64_t, uint32_t> counts;
};

std::vector<LaneTokens> lanes_of(const Program& program) {
  const std::vector<uint64_t> tokens = tokens_of(program);
  std::vector<LaneTokens> lanes(program.lanes.size());
  for (uint32_t node = 0; node < program.nodes.size(); ++node) {
    LaneTokens& lane = lanes[program.nodes[node].lane];
    lane.nodes.push_back(node);
    lane.tokens.push_back(tokens[node]);
    ++lane.counts[tokens[node]];
  }
  return lanes;
}

uint64_t shared_count(const LaneTokens& a, const LaneTokens& b) {
  uint64_t shared = 0;
  for (const auto& [token, count] : a.counts) {
    const auto its = b.counts.find(token);
    shared += its == b.counts.end() ? 0 : std::min(count, its->second);
  }
  return shared;
}

}  // namespace

std::vector<uint64_t> tokens_of(const Program& program) {
  std::vector<uint64_t> texts;
  texts.reserve(program.texts.size());
  for (const std::string& text : program.texts) {
    texts.push_back(std::hash<std::string_view>()(text));
  }
  std::vector<uint64_t> tokens;
  tokens.reserve(program.nodes.size());
  for (size_t id = 0; id < program.nodes.size(); ++id) {
    const graph::Node& node = program.nodes[id];
    uint64_t token = mixed(0, static_cast<uint64_t>(node.kind));
    for (uint32_t p = node.first_part; p < node.first_part + node.part_count; ++p) {
      token = mixed(token, static_cast<uint64_t>(program.parts[p].kind));
    }
    if (!program.labels.empty()) {
      const graph::Labels& labels = program.labels[id];
      token = mixed(token, labels.name == kNone ? 0 : texts[labels.name]);
      for (const int32_t number : {labels.micro_batch, labels.chunk, labels.layer}) {
        token = mixed(token, static_cast<uint32_t>(number));
      }
    }
    tokens.push_back(token);
  }
  return tokens;
}

Pairs common(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  const size_t shorter = std::min(a.size(), b.size());
  uint32_t begin = 0;
  while (begin < shorter && a[begin] == b[begin]) {
    ++begin;
  }
  uint32_t tail = 0;
  while (tail < shorter - begin && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) {
    ++tail;
  }
  ShortestEdit edit(a.data() + begin, static_cast<int32_t>(a.size() - begin - tail),
                    b.data() + begin, static_cast<int32_t>(b.size() - begin - tail));
  if (!edit.run(kMostEdits)) {
    return nth_to_nth(a, b);
  }
  Pairs pairs;
  pairs.reserve(shorter);
  for (uint32_t i = 0; i < begin; ++i) {
    pairs.emplace_back(i, i);
  }
  for (const auto& [i, j] : edit.pairs()) {
    pairs.emplace_back(begin + i, begin + j);
  }
  for (uint32_t i = tail; i > 0; --i) {
    pairs.emplace_back(static_cast<uint32_t>(a.size()) - i, static_cast<uint32_t>(b.size()) - i);
  }
  return pairs;
}

std::vector<uint32_t> counterparts(const Program& first, const Program& other) {
  const std::vector<LaneTokens> a = lanes_of(first);
  const std::vector<LaneTokens> b = lanes_of(other);
  std::vector<std::pair<uint64_t, std::pair<uint32_t, uint32_t>>> likenesses;
  for (uint32_t i = 0; i < a.size(); ++i) {
    for (uint32_t j = 0; j < b.size(); ++j) {
      const uint64_t shared =
          first.lanes[i].kind == other.lanes[j].kind ? shared_count(a[i], b[j]) : 0;
      if (shared > 0) {
        likenesses.emplace_back(shared, std::pair{i, j});
      }
    }
  }
  std::stable_sort(likenesses.begin(), likenesses.end(),
                   [](const auto& x, const auto& y) { return x.first > y.first; });
  std::vector<uint32_t> result(other.nodes.size(), kNone);
  std::vector<bool> taken_a(a.size(), false);
  std::vector<bool> taken_b(b.size(), false);
  for (const auto& [shared, lanes] : likenesses) {
    const auto [i, j] = lanes;
    if (taken_a[i] || taken_b[j]) {
      continue;
    }
    taken_a[i] = taken_b[j] = true;
    for (const auto& [x, y] : common(a[i].tokens, b[j].tokens)) {
      result[b[j].nodes[y]] = a[i].nodes[x];
    }
  }
  return result;
}

}  // namespace prism::analysis
