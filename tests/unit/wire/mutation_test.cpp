// SPDX-License-Identifier: Apache-2.0
/// The fuzzer's rules on damaged golden frames: the same mutations in every run.
#include <array>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/decoder_check.hpp"
#include "tests/unit/wire/samples.hpp"

namespace prism::wire {
namespace {

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : engine_(seed) {}

  std::string mutate(std::string bytes) {
    const size_t changes = 1 + below(4);
    for (size_t i = 0; i < changes && !bytes.empty(); ++i) {
      change(bytes);
    }
    return bytes;
  }

 private:
  size_t below(size_t limit) { return engine_() % limit; }
  void change(std::string& bytes) {
    const size_t at = below(bytes.size());
    switch (below(6)) {
      case 0:  // a bit
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:  // a byte
        bytes[at] = static_cast<char>(below(256));
        break;
      case 2:  // four bytes that a length or count may be made of
        overwrite(bytes, at, kNumbers[below(kNumbers.size())]);
        break;
      case 3:  // bytes too few
        bytes.erase(at, 1 + below(8));
        break;
      case 4:  // bytes too many
        bytes.insert(at, 1 + below(8), static_cast<char>(below(256)));
        break;
      default:  // a piece moved to another place
        bytes.insert(at, bytes.substr(below(bytes.size()), below(64)));
    }
  }
  static void overwrite(std::string& bytes, size_t at, uint32_t number) {
    for (size_t i = 0; i < 4 && at + i < bytes.size(); ++i) {
      bytes[at + i] = static_cast<char>(number >> (8 * i));
    }
  }

  static constexpr std::array<uint32_t, 7> kNumbers{
      0, 1, 0x7f, kMaxBody, kMaxBody + 1, 0x7fffffff, 0xffffffff};
  std::mt19937_64 engine_;
};

TEST(WireMutation, DamagedFramesBreakNoRule) {
  std::vector<std::string> seeds(1);
  for (const auto& sample : samples()) {
    seeds.emplace_back();
    ASSERT_TRUE(encode({1, sample.message}, seeds.back()));
    ASSERT_TRUE(encode({seeds.size() - 1, sample.message}, seeds.front()));
  }
  Mutator mutator(1);
  size_t refused = 0;
  size_t accepted = 0;
  for (int round = 0; round < 1000; ++round) {
    for (const std::string& seed : seeds) {
      const std::string bytes = mutator.mutate(seed);
      ASSERT_EQ(broken_rule(bytes), "") << ::testing::PrintToString(bytes);
      const Decoded decoded = decode_in_pieces(bytes, bytes.size());
      refused += decoded.error.empty() ? 0 : 1;
      accepted += decoded.frames.empty() ? 0 : 1;
    }
  }
  // The mutations reach both sides: else they would test nothing.
  EXPECT_GT(refused, 1000U);
  EXPECT_GT(accepted, 1000U);
}

}  // namespace
}  // namespace prism::wire
