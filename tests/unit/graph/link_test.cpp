// SPDX-License-Identifier: Apache-2.0
/// Hand calculations; all formulas are compared with the reference interpreter in tests/reference.
#include "prism/link/link.hpp"

#include <gtest/gtest.h>

namespace prism::link {
namespace {

// 1 byte per ns, so that bytes are ns.
constexpr Link kLink{1000, 1'000'000'000, 10, 0};

TEST(Link, AMessageIsLatencyPerMessageAndBytes) {
  EXPECT_EQ(message_duration(kLink, 0), 1010);
  EXPECT_EQ(message_duration(kLink, 500), 1510);
  EXPECT_EQ(message_duration({0, 3, 0, 0}, 1), 333'333'334) << "rounded up";
  EXPECT_EQ(message_duration({}, uint64_t{1} << 60), 0) << "a link of zeros costs nothing";
}

TEST(Link, GlooAllReduceIsARingOfTwoPhases) {
  // 2 * 3 steps of 256 bytes in two segments.
  EXPECT_EQ(collective_duration(kLink, "gloo", PRISM_COMM_ALL_REDUCE, 4, 1024, 1024),
            6 * (1000 + 2 * 10 + 256));
  // 8 MiB over 2: parts of 4 MiB in four segments of 1 MiB.
  EXPECT_EQ(collective_duration(kLink, "gloo", PRISM_COMM_ALL_REDUCE, 2, 8 << 20, 8 << 20),
            2 * (1000 + 4 * 10 + (4 << 20)));
  Link reducing = kLink;
  reducing.reduce_bandwidth_Bps = 500'000'000;
  EXPECT_EQ(collective_duration(reducing, "gloo", PRISM_COMM_ALL_REDUCE, 4, 1024, 1024),
            6 * (1000 + 2 * 10 + 256) + 3 * 512);
}

TEST(Link, GlooReduceScatterAllReducesTheWholeInput) {
  EXPECT_EQ(collective_duration(kLink, "gloo", PRISM_COMM_REDUCE_SCATTER, 4, 1024, 256),
            collective_duration(kLink, "gloo", PRISM_COMM_ALL_REDUCE, 4, 1024, 1024));
  EXPECT_EQ(collective_duration(kLink, "nccl", PRISM_COMM_REDUCE_SCATTER, 4, 1024, 256),
            3 * (1000 + 10 + 256));
}

TEST(Link, TorchCopiesAroundGloosAllGatherAndReduceScatter) {
  Link copying = kLink;
  copying.copy_bandwidth_Bps = 500'000'000;  // 2 ns a byte
  const auto extra = [&](int32_t kind, uint64_t input, uint64_t output) {
    return collective_duration(copying, "gloo", kind, 4, input, output) -
           collective_duration(kLink, "gloo", kind, 4, input, output);
  };
  EXPECT_EQ(extra(PRISM_COMM_ALL_GATHER, 100, 400), 2 * (100 + 400));
  EXPECT_EQ(extra(PRISM_COMM_REDUCE_SCATTER, 400, 100), 2 * 400);
  EXPECT_EQ(extra(PRISM_COMM_ALL_REDUCE, 400, 400), 0);
}

TEST(Link, OtherCollectives) {
  EXPECT_EQ(collective_duration(kLink, "gloo", PRISM_COMM_BROADCAST, 5, 100, 100),
            3 * (1000 + 10 + 100));
  EXPECT_EQ(collective_duration(kLink, "gloo", PRISM_COMM_BARRIER, 8, 0, 0), 3 * 1010);
  EXPECT_EQ(collective_duration(kLink, "gloo", PRISM_COMM_ALL_GATHER, 4, 100, 400),
            3 * (1000 + 20 + 100));
  EXPECT_EQ(collective_duration(kLink, "nccl", PRISM_COMM_ALL_GATHER, 4, 100, 400),
            3 * (1000 + 10 + 100));
  EXPECT_EQ(collective_duration(kLink, "gloo", PRISM_COMM_ALL_TO_ALL, 4, 400, 400),
            1000 + 3 * 10 + 300);
  EXPECT_EQ(collective_duration(kLink, "gloo", PRISM_COMM_SCATTER, 4, 400, 100),
            1000 + 3 * 10 + 300)
      << "the root sends three parts";
  EXPECT_EQ(collective_duration(kLink, "gloo", PRISM_COMM_SCATTER, 4, 0, 100), 1000 + 10 + 100);
}

TEST(Link, AGroupOfOneAndNothingToReduceTakeNoTime) {
  for (int32_t kind = PRISM_COMM_ALL_REDUCE; kind <= PRISM_COMM_GATHER; ++kind) {
    EXPECT_EQ(collective_duration(kLink, "gloo", kind, 1, 100, 100), 0);
    EXPECT_EQ(collective_duration(kLink, "nccl", kind, 1, 100, 100), 0);
  }
  EXPECT_EQ(collective_duration(kLink, "gloo", PRISM_COMM_ALL_REDUCE, 4, 0, 0), 0);
}

TEST(Link, ExtremesSaturateInsteadOfWrapping) {
  const uint64_t most = ~uint64_t{0};
  EXPECT_EQ(message_duration({0, 1, 0, 0}, most), kLongest);
  for (int32_t kind = PRISM_COMM_ALL_REDUCE; kind <= PRISM_COMM_GATHER; ++kind) {
    for (const char* backend : {"gloo", "nccl"}) {
      const int64_t time =
          collective_duration({kLongest, 1, kLongest, 1}, backend, kind, 0xffffffff, most, most);
      EXPECT_EQ(time, kLongest) << backend << " " << kind;
    }
  }
}

}  // namespace
}  // namespace prism::link
