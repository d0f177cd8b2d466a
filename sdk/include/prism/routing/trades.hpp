// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "prism/routing/sets.hpp"
#include "prism/routing/shuffle.hpp"
#include "prism/sdk/random.hpp"

namespace prism::routing::detail {

/// Two sets pool the members that they do not share and share them out anew at random. Many such
/// trades lead to all assignments with the same counts, each as likely as the others ("curveball",
/// Strona et al. 2014; uniform: Carstens 2015).
class Trader {
 public:
  explicit Trader(uint32_t members) : owner_(members) {}

  void trade(std::span<uint32_t> a, std::span<uint32_t> b, sdk::Random& random) {
    pool_.clear();
    for (const uint32_t member : a) {
      owner_[member] = Owner::A;
    }
    // Both sets keep what they share in front.
    size_t shared = 0;
    for (uint32_t& member : b) {
      if (owner_[member] == Owner::A) {
        owner_[member] = Owner::Both;
        std::swap(member, b[shared++]);
      }
    }
    size_t kept = 0;
    for (uint32_t& member : a) {
      if (owner_[member] == Owner::Both) {
        std::swap(member, a[kept++]);
      }
    }
    for (const uint32_t member : a) {
      owner_[member] = Owner::None;
    }
    const size_t own = a.size() - shared;
    pool_.insert(pool_.end(), a.begin() + static_cast<std::ptrdiff_t>(shared), a.end());
    pool_.insert(pool_.end(), b.begin() + static_cast<std::ptrdiff_t>(shared), b.end());
    for (size_t i = 0; i < own; ++i) {
      std::swap(pool_[i], pool_[i + static_cast<size_t>(random.below(pool_.size() - i))]);
    }
    std::copy_n(pool_.begin(), own, a.begin() + static_cast<std::ptrdiff_t>(shared));
    std::copy_n(pool_.begin() + static_cast<std::ptrdiff_t>(own), own,
                b.begin() + static_cast<std::ptrdiff_t>(shared));
  }

 private:
  enum class Owner : uint8_t { None, A, Both };
  std::vector<Owner> owner_;  // of each member; None between calls
  std::vector<uint32_t> pool_;
};

/// Any assignment with these counts: members one after the other, each in as many consecutive slots
/// as its count, slot i in the set of the (i mod tokens)-th token. No count exceeds `tokens`, so no
/// set gets a member twice.
inline void lay_out(const Sets& sets, std::span<const uint64_t> counts,
                    std::span<const uint64_t> tokens) {
  uint64_t slot = 0;
  for (uint32_t member = 0; member < sets.members; ++member) {
    for (uint64_t i = 0; i < counts[member]; ++i, ++slot) {
      sets.of(tokens[static_cast<size_t>(slot % sets.tokens)])[static_cast<size_t>(
          slot / sets.tokens)] = member;
    }
  }
}

/// Sets with these counts, from trades alone. Serves every case, but its cost per slot is that of
/// kRounds trades.
inline void assign_by_trades(const Sets& sets, std::span<const uint64_t> counts,
                             sdk::Random& random) {
  constexpr int kRounds = 40;
  std::vector<uint64_t> tokens(static_cast<size_t>(sets.tokens));
  std::iota(tokens.begin(), tokens.end(), uint64_t{0});
  shuffle(std::span(tokens), random);
  lay_out(sets, counts, tokens);
  Trader trader(sets.members);
  for (int round = 0; round < kRounds; ++round) {
    shuffle(std::span(tokens), random);
    for (size_t i = 1; i < tokens.size(); i += 2) {
      trader.trade(sets.of(tokens[i - 1]), sets.of(tokens[i]), random);
    }
  }
}

}  // namespace prism::routing::detail
