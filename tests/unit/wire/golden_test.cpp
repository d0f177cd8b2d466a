// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>

#include "tests/unit/wire/samples.hpp"

namespace prism::wire {
namespace {

std::string golden(const std::string& name) {
  std::ifstream file(std::string(PRISM_SOURCE_DIR "/tests/golden/wire/") + name + ".bin",
                     std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(WireGolden, EveryTypeHasASample) {
  const auto all = samples();
  ASSERT_EQ(all.size(), std::variant_size_v<Message>);
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].message.index(), i);
  }
}

TEST(WireGolden, EncodeGivesTheseBytes) {
  for (const auto& [name, message] : samples()) {
    std::string bytes;
    ASSERT_TRUE(encode({1, message}, bytes));
    EXPECT_EQ(bytes, golden(name)) << name;
  }
}

TEST(WireGolden, DecodeGivesTheMessageBack) {
  for (const auto& [name, message] : samples()) {
    const std::string bytes = golden(name);
    Decoder decoder;
    decoder.feed(bytes.data(), bytes.size());
    const auto frame = decoder.next();
    ASSERT_TRUE(frame) << name << ": " << decoder.error();
    EXPECT_EQ(*frame, (Frame{1, message})) << name;
    EXPECT_EQ(decoder.pending(), 0U);
  }
}

TEST(WireGolden, StreamOfAll) {
  const std::string bytes = golden("stream");
  Decoder decoder;
  decoder.feed(bytes.data(), bytes.size());
  std::string again;
  uint64_t seq = 0;
  for (const auto& [name, message] : samples()) {
    const auto frame = decoder.next();
    ASSERT_TRUE(frame) << name << ": " << decoder.error();
    EXPECT_EQ(*frame, (Frame{++seq, message})) << name;
    ASSERT_TRUE(encode(*frame, again));
  }
  EXPECT_FALSE(decoder.next());
  EXPECT_EQ(decoder.error(), "");
  EXPECT_EQ(again, bytes);
}

}  // namespace
}  // namespace prism::wire
