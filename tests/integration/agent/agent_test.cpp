// SPDX-License-Identifier: Apache-2.0
/// Real PyTorch programs as logical ranks, alone, and what their agent says.
#include <algorithm>
#include <gtest/gtest.h>

#include "prism/abi/comm.h"
#include "tests/integration/agent/lone_rank.hpp"

namespace prism::test {
namespace {

class Agent : public testing::Test {
 protected:
  void SetUp() override {
    if (!why_not().empty()) {
      GTEST_SKIP() << why_not();
    }
  }
};

/// The run came to its end by itself and said so.
void expect_returned(const RankRun& run) {
  ASSERT_EQ(run.exit_code, 0) << run.describe();
  const auto byes = run.all<wire::Bye>();
  ASSERT_EQ(byes.size(), 1U) << run.describe();
  EXPECT_EQ(byes[0].reason, wire::kByeReturned) << byes[0].detail;
  EXPECT_TRUE(std::holds_alternative<wire::Bye>(run.frames.back().message));
}

std::vector<uint8_t> marks(const RankRun& run) {
  std::vector<uint8_t> kinds;
  for (const wire::Mark& mark : run.all<wire::Mark>()) {
    kinds.push_back(mark.kind);
  }
  return kinds;
}

class FullyShard : public Agent,
                   public testing::WithParamInterface<std::pair<uint32_t, uint32_t>> {};

TEST_P(FullyShard, TrainsAlone) {
  const auto [rank, world_size] = GetParam();
  const RankRun run = run_rank({.script = "fsdp2.py", .rank = rank, .world_size = world_size});
  expect_returned(run);

  const auto hello = run.all<wire::Hello>();
  ASSERT_EQ(hello.size(), 1U);
  EXPECT_EQ(hello[0].rank, rank);
  EXPECT_EQ(hello[0].world_size, world_size);
  EXPECT_TRUE(hello[0].framework.starts_with("torch 2.")) << hello[0].framework;

  const auto groups = run.all<wire::Group>();
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].member, 1);
  EXPECT_EQ(groups[0].backend, "gloo");
  EXPECT_EQ(groups[0].description, "default_pg");
  ASSERT_EQ(groups[0].ranks.size(), world_size);
  EXPECT_EQ(groups[0].ranks[rank], rank);

  // Forward and backward gather each of two layers, backward scatters both, clipping reduces.
  const auto ops = run.all<wire::Op>();
  ASSERT_EQ(ops.size(), 3U * 7U);
  const uint64_t shard = 1024U * 1025U * 4U / world_size;
  for (size_t i = 0; i < ops.size(); ++i) {
    const uint8_t kind = i % 7 < 4   ? PRISM_COMM_ALL_GATHER
                         : i % 7 < 6 ? PRISM_COMM_REDUCE_SCATTER
                                     : PRISM_COMM_ALL_REDUCE;
    EXPECT_EQ(ops[i].kind, kind) << i;
    EXPECT_EQ(ops[i].id, i + 1);
    EXPECT_EQ(ops[i].sequence, i);
    if (kind == PRISM_COMM_ALL_GATHER) {
      EXPECT_EQ(ops[i].input_bytes, shard);
      EXPECT_EQ(ops[i].output_bytes, shard * world_size);
    }
  }
  using wire::kMarkForward, wire::kMarkOptimizerBegin, wire::kMarkOptimizerEnd;
  EXPECT_EQ(marks(run),
            (std::vector<uint8_t>{kMarkForward, kMarkOptimizerBegin, kMarkOptimizerEnd,
                                  kMarkForward, kMarkOptimizerBegin, kMarkOptimizerEnd,
                                  kMarkForward, kMarkOptimizerBegin, kMarkOptimizerEnd}));
}

INSTANTIATE_TEST_SUITE_P(Ranks, FullyShard,
                         testing::Values(std::pair(5U, 64U), std::pair(1023U, 1024U)));

TEST_F(Agent, DistributedDataParallelKeepsParametersAndTrains) {
  const RankRun run = run_rank({.script = "ddp.py", .rank = 5, .world_size = 64});
  expect_returned(run);
  EXPECT_EQ(run.made_up(wire::kMadeUpFill), 0U) << "broadcast parameters were to be kept";
  const auto waits = run.all<wire::Wait>();
  EXPECT_TRUE(std::any_of(waits.begin(), waits.end(), [](const wire::Wait& w) {
    return w.via == wire::kWaitFuture;
  })) << "the reducer takes futures";
}

}  // namespace
}  // namespace prism::test
