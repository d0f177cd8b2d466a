// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <initializer_list>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/wire/samples.hpp"

namespace prism::wire {
namespace {

using ::testing::HasSubstr;

// Where the header fields are.
constexpr size_t kVersionAt = 4;
constexpr size_t kTypeAt = 6;
constexpr size_t kLengthAt = 8;
constexpr size_t kReservedAt = 12;
constexpr size_t kSeqAt = 16;

std::string bytes_of(const Message& message, uint64_t seq = 1) {
  std::string bytes;
  EXPECT_TRUE(encode({seq, message}, bytes));
  return bytes;
}

template <typename T>
std::string with(std::string bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(T));
  return bytes;
}

/// Puts `body` under the header of `bytes`, with the right length.
std::string with_body(const std::string& bytes, const std::string& body) {
  return with(bytes.substr(0, kHeaderSize), kLengthAt, static_cast<uint32_t>(body.size())) + body;
}

/// What the decoder says of bytes whose first frame is bad.
std::string error_of(const std::string& bytes) {
  Decoder decoder;
  decoder.feed(bytes.data(), bytes.size());
  EXPECT_FALSE(decoder.next());
  return decoder.error();
}

// --- Round trip ----------------------------------------------------------------------------------

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  template <typename T>
  T number() {
    // Small, extreme and arbitrary numbers, each often.
    const uint64_t bits = engine_();
    switch (bits % 4) {
      case 0:
        return static_cast<T>(engine_() % 4);
      case 1:
        return std::numeric_limits<T>::max();
      case 2:
        return std::numeric_limits<T>::min();
      default:
        return static_cast<T>(engine_());
    }
  }
  uint8_t in(int low, int high) {
    return static_cast<uint8_t>(low + static_cast<int>(engine_() % uint64_t(high - low + 1)));
  }
  std::string text() {
    std::string text(engine_() % 12, '\0');
    for (char& c : text) {
      c = static_cast<char>(engine_());
    }
    return text;
  }
  template <typename T>
  std::vector<T> list(auto make) {
    std::vector<T> list(engine_() % 5);
    for (T& element : list) {
      element = make();
    }
    return list;
  }
  Clocks clocks() {
    return {number<int64_t>(), number<int64_t>(), number<int64_t>(), number<int64_t>(),
            number<uint32_t>()};
  }
  Message message() {
    const auto u64 = [&] { return number<uint64_t>(); };
    const auto u32 = [&] { return number<uint32_t>(); };
    switch (engine_() % 9) {
      case 0:
        return Hello{u32(), u32(), u64(), text(), text(), clocks()};
      case 1:
        return Group{u32(), in(0, 1), text(), text(), text(), list<uint32_t>(u32), clocks()};
      case 2:
        return Op{u64(),
                  u32(),
                  u64(),
                  u64(),
                  in(PRISM_COMM_ALL_REDUCE, PRISM_COMM_RECV),
                  in(PRISM_REDUCE_NONE, PRISM_REDUCE_PREMUL_SUM),
                  in(PRISM_DTYPE_OTHER, PRISM_DTYPE_U64),
                  in(0, 3),
                  std::max(number<int32_t>(), kAnySource),
                  number<int32_t>(),
                  u64(),
                  u64(),
                  list<uint64_t>(u64),
                  list<uint64_t>(u64),
                  clocks()};
      case 3:
        return Wait{u64(), in(kWaitWork, kWaitFuture), clocks()};
      case 4:
        return Done{u64(), list<MadeUp>([&] {
                      return MadeUp{in(kMadeUpEcho, kMadeUpSource), u64(), text()};
                    }),
                    clocks()};
      case 5:
        return Mark{in(kMarkForward, kMarkOptimizerEnd), text(), clocks()};
      case 6:
        return Bye{in(kByeReturned, kByeSystemExit), number<int32_t>(), text(),
                   list<std::string>([&] { return text(); }), clocks()};
      case 7:
        return Welcome{u64(), list<SourceRule>([&] { return rule(); }),
                       maybe([&] { return plugin(); })};
      default:
        return Verdict{u64(), static_cast<Decision>(in(1, 4)), text()};
    }
  }

 private:
  template <typename Make>
  auto maybe(Make make) -> std::optional<decltype(make())> {
    return in(0, 1) != 0 ? std::optional(make()) : std::nullopt;
  }
  Plugin plugin() {
    return {text(), text(), text(), list<PluginOption>([&] {
              return PluginOption{in(PRISM_OPTION_BOOL, PRISM_OPTION_PATH), in(0, 1),
                                  number<uint64_t>(), text()};
            })};
  }
  SourceRule rule() {
    return {text(),
            maybe([&] { return number<uint8_t>(); }),
            maybe([&] { return text(); }),
            maybe([&] { return number<uint8_t>(); }),
            maybe([&] { return list<uint32_t>([&] { return number<uint32_t>(); }); }),
            maybe([&] { return list<int64_t>([&] { return number<int64_t>(); }); }),
            maybe([&] { return number<uint64_t>(); }),
            plugin()};
  }

  std::mt19937_64 engine_;
};

TEST(WireCodec, RandomStreamsComeBackHoweverTheyAreCut) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    std::vector<Frame> frames;
    std::string bytes;
    for (uint64_t seq = 1; seq <= 5; ++seq) {
      frames.push_back({seq, random.message()});
      ASSERT_TRUE(encode(frames.back(), bytes));
    }
    for (size_t cut = 0; cut <= bytes.size(); ++cut) {
      Decoder decoder;
      std::vector<Frame> got;
      for (const auto& piece : {bytes.substr(0, cut), bytes.substr(cut)}) {
        decoder.feed(piece.data(), piece.size());
        while (auto frame = decoder.next()) {
          got.push_back(*std::move(frame));
        }
      }
      ASSERT_EQ(decoder.error(), "") << "seed " << seed << " cut " << cut;
      ASSERT_EQ(got, frames) << "seed " << seed << " cut " << cut;
      ASSERT_EQ(decoder.pending(), 0U);
    }
  }
}

TEST(WireCodec, ByteByByte) {
  std::string bytes;
  uint64_t seq = 0;
  for (const auto& sample : samples()) {
    ASSERT_TRUE(encode({++seq, sample.message}, bytes));
  }
  Decoder decoder;
  size_t got = 0;
  for (const char byte : bytes) {
    decoder.feed(&byte, 1);
    while (auto frame = decoder.next()) {
      EXPECT_EQ(frame->message, samples()[got].message);
      ++got;
    }
  }
  EXPECT_EQ(got, samples().size());
  EXPECT_EQ(decoder.error(), "");
}

// --- Size ----------------------------------------------------------------------------------------

TEST(WireCodec, BodyOfExactlyTheLimit) {
  const size_t rest = bytes_of(Mark{.kind = kMarkForward}).size() - kHeaderSize;
  Mark mark{.kind = kMarkForward, .name = std::string(kMaxBody - rest, 'x')};
  const std::string bytes = bytes_of(mark);
  EXPECT_EQ(bytes.size(), kHeaderSize + kMaxBody);
  Decoder decoder;
  decoder.feed(bytes.data(), bytes.size());
  EXPECT_EQ(decoder.next(), (Frame{1, mark}));

  mark.name += 'x';
  std::string out = "kept";
  EXPECT_FALSE(encode({1, mark}, out));
  EXPECT_EQ(out, "kept");
}

TEST(WireCodec, EncodeAppendsWithoutAllocationWhenThereIsRoom) {
  std::string out;
  out.reserve(4096);
  const char* const place = out.data();
  for (const auto& sample : samples()) {
    ASSERT_TRUE(encode({1, sample.message}, out));
  }
  EXPECT_EQ(out.data(), place);
}

// --- Headers that are refused --------------------------------------------------------------------

TEST(WireCodec, RefusesHeaders) {
  const std::string good = bytes_of(Welcome{7});
  EXPECT_EQ(error_of(with(good, 0, uint32_t{0x12345678})),
            "frame 1: field 'magic': 0x12345678, expected 0x4d535250");
  EXPECT_EQ(
      error_of(with(good, kVersionAt, uint16_t{1})),
      "frame 1: field 'version': the sender speaks version 1 of the agent protocol, this side "
      "version 2");
  EXPECT_EQ(error_of(with(good, kReservedAt, uint32_t{255})),
            "frame 1: field 'reserved': 0x000000ff, expected 0");
  EXPECT_EQ(error_of(with(good, kSeqAt, uint64_t{2})), "frame 1: field 'seq': 2, expected 1");
  for (const uint16_t type : std::initializer_list<uint16_t>{0, 8, 15, 18, 65535}) {
    EXPECT_THAT(error_of(with(good, kTypeAt, type)),
                HasSubstr("field 'type': " + std::to_string(type) + ", expected 1 to 7"));
  }
}

TEST(WireCodec, RefusesLengthBeforeItsBodyComes) {
  const std::string header = bytes_of(Welcome{7}).substr(0, kHeaderSize);
  EXPECT_EQ(error_of(with(header, kLengthAt, kMaxBody + 1)),
            "frame 1: field 'length': 16777217 bytes, expected at most 16777216");
  EXPECT_EQ(error_of(with(header, kLengthAt, kMaxBody)), "");
}

TEST(WireCodec, NamesTheFrameThatIsBad) {
  const std::string good = bytes_of(Welcome{7}, 1);
  const std::string repeated = good + good;
  Decoder decoder;
  decoder.feed(repeated.data(), repeated.size());
  EXPECT_TRUE(decoder.next());
  EXPECT_FALSE(decoder.next());
  EXPECT_EQ(decoder.error(), "frame 2: field 'seq': 1, expected 2");
}

TEST(WireCodec, AnErrorIsFinal) {
  Decoder decoder;
  const std::string bad = with(bytes_of(Welcome{7}), 0, uint32_t{0});
  const std::string good = bytes_of(Welcome{7});
  decoder.feed(bad.data(), bad.size());
  EXPECT_FALSE(decoder.next());
  const std::string error = decoder.error();
  decoder.feed(good.data(), good.size());
  EXPECT_FALSE(decoder.next());
  EXPECT_EQ(decoder.error(), error);
  EXPECT_EQ(decoder.pending(), 0U);
}

// --- Bodies that are refused ---------------------------------------------------------------------

TEST(WireCodec, RefusesBodiesOfAnyOtherLength) {
  for (const auto& [name, message] : samples()) {
    const std::string bytes = bytes_of(message);
    const std::string body = bytes.substr(kHeaderSize);
    for (size_t length = 0; length < body.size(); ++length) {
      ASSERT_THAT(error_of(with_body(bytes, body.substr(0, length))), HasSubstr("more bytes"))
          << name << " cut to " << length;
    }
    EXPECT_THAT(error_of(with_body(bytes, body + "xyz")),
                HasSubstr("field 'length': 3 bytes after the last field, expected none"));
  }
}

TEST(WireCodec, NamesTheFieldThatIsCut) {
  const std::string welcome = bytes_of(Welcome{7});
  EXPECT_EQ(error_of(with_body(welcome, "1234567")),
            "frame 1 (Welcome): field 'seed': expected 8 more bytes, the body has 7 left");
  const std::string mark = bytes_of(Mark{.kind = kMarkForward, .name = "ab"});
  EXPECT_EQ(error_of(with_body(mark, mark.substr(kHeaderSize, mark.size() - kHeaderSize - 1))),
            "frame 1 (Mark): field 'clocks.thread': expected 4 more bytes, the body has 3 left");
}

TEST(WireCodec, RefusesCountsBeyondTheBody) {
  const std::string bye = bytes_of(Bye{.reason = kByeReturned, .files = {"a"}});
  const size_t count_at = kHeaderSize + 1 + 4 + 4;
  EXPECT_EQ(error_of(with(bye, count_at, uint32_t{0xffffffff})),
            "frame 1 (Bye): field 'files': expected 17179869180 more bytes, the body has 41 left");
  EXPECT_EQ(
      error_of(with(bye, count_at + 4, uint32_t{0xffffffff})),
      "frame 1 (Bye): field 'files[0]': expected 4294967295 more bytes, the body has 37 left");
}

TEST(WireCodec, RefusesNumbersThatMeanNothing) {
  const auto refused = [](Message message, const std::string& what) {
    EXPECT_THAT(error_of(bytes_of(message)), HasSubstr(what));
  };
  refused(Group{.member = 2}, "frame 1 (Group): field 'member': value 2, expected 0 to 1");
  Op op{.kind = PRISM_COMM_SEND, .dtype = PRISM_DTYPE_F32, .peer = 1};
  op.kind = 0;
  refused(op, "frame 1 (Op): field 'kind': value 0, expected 1 to 11");
  op.kind = 12;
  refused(op, "field 'kind': value 12, expected 1 to 11");
  op.kind = PRISM_COMM_SEND;
  op.reduction = 10;
  refused(op, "field 'reduction': value 10, expected 0 to 9");
  op.reduction = 0;
  op.dtype = 18;
  refused(op, "field 'dtype': value 18, expected 0 to 17");
  op.dtype = 0;
  op.flags = 4;
  refused(op, "field 'flags': value 4, expected 0 to 3");
  op.flags = 0;
  op.peer = -3;
  refused(op, "field 'peer': value -3, expected -2 to 2147483647");
  refused(Wait{.via = 0}, "frame 1 (Wait): field 'via': value 0, expected 1 to 2");
  refused(Wait{.via = 3}, "field 'via': value 3, expected 1 to 2");
  refused(Done{.made_up = {{kMadeUpEcho, 1}, {5, 1}}},
          "frame 1 (Done): field 'made_up[1].source': value 5, expected 1 to 4");
  Welcome welcome{.rules = {{}, {}}};
  welcome.rules[1].source.options = {{}, {}, {.type = 8}};
  refused(welcome,
          "frame 1 (Welcome): field 'rules[1].source.options[2].type': value 8, expected 1 to 7");
  refused(Mark{.kind = 4}, "frame 1 (Mark): field 'kind': value 4, expected 1 to 3");
  refused(Bye{.reason = 0}, "frame 1 (Bye): field 'reason': value 0, expected 1 to 3");
  refused(Verdict{.decision = Decision{0}},
          "frame 1 (Verdict): field 'decision': value 0, expected 1 to 4");
  refused(Verdict{.decision = Decision{5}}, "field 'decision': value 5, expected 1 to 4");
}

}  // namespace
}  // namespace prism::wire
