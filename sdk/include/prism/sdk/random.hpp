// SPDX-License-Identifier: Apache-2.0
/// Random numbers that are the same on every machine, compiler and standard library, which those of
/// `<random>` are not. A router or a tensor source makes one generator per call, from everything
/// that its result depends on:
///
///   prism::sdk::Random random(prism::sdk::mix({request.seed, request.layer,
///   request.micro_batch})); uint64_t expert = random.below(request.experts);
#pragma once

#include <cstdint>
#include <initializer_list>

namespace prism::sdk {

/// One step of SplitMix64 (Steele, Lea, Flood 2014): a bijection whose every output bit depends on
/// every input bit.
constexpr uint64_t scramble(uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// One number of several; their order counts.
constexpr uint64_t mix(std::initializer_list<uint64_t> values) noexcept {
  uint64_t mixed = 0;
  for (const uint64_t value : values) {
    mixed = scramble(mixed ^ value);
  }
  return mixed;
}

/// xoshiro256++ 1.0 (Blackman, Vigna 2019). Not for cryptography. One thread.
class Random {
 public:
  using result_type = uint64_t;

  explicit constexpr Random(uint64_t seed) noexcept {
    for (uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15U;
      word = scramble(seed);
    }
  }

  constexpr uint64_t operator()() noexcept {
    const uint64_t result = rotate(state_[0] + state_[3], 23) + state_[0];
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return result;
  }
  /// 0 to n - 1, n >= 1; each as likely as the others up to 1 in 2^64 / n (Lemire 2019, without the
  /// rejection step).
  constexpr uint64_t below(uint64_t n) noexcept {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>((Wide{operator()()} * n) >> 64);
  }
  /// [0, 1), a multiple of 2^-53.
  constexpr double uniform() noexcept { return static_cast<double>(operator()() >> 11) * 0x1p-53; }

  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return ~uint64_t{0}; }

 private:
  static constexpr uint64_t rotate(uint64_t x, int by) noexcept {
    return (x << by) | (x >> (64 - by));
  }
  uint64_t state_[4] = {};
};

}  // namespace prism::sdk
