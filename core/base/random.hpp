// SPDX-License-Identifier: Apache-2.0
/// Random numbers without a state: the n-th of a key is the same whoever asks, and when.
#pragma once

#include <cstdint>

namespace prism {

/// A number of 64 bits in which each bit of `value` changes each bit (the finalizer of splitmix64,
/// Steele, Lea and Flood 2014).
inline uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111eb;
  return value ^ (value >> 31U);
}

/// A key for what `key` and `part` name together; also the `part`-th random number of `key`.
inline uint64_t mix(uint64_t key, uint64_t part) {
  return mix(key ^ mix(part));
}

/// 0 .. count - 1, each as likely as the others to 2^-32 of its share.
inline uint32_t pick(uint64_t random, uint32_t count) {
  return static_cast<uint32_t>(((random >> 32U) * count) >> 32U);
}

/// In (0, 1].
inline double uniform(uint64_t random) {
  constexpr double kSteps = 9007199254740992.0;  // 2^53
  return static_cast<double>((random >> 11U) + 1) / kSteps;
}

}  // namespace prism
