// SPDX-License-Identifier: Apache-2.0
#include "core/graph/timing.hpp"

#include <gtest/gtest.h>

#include "tests/unit/graph/programs.hpp"

namespace prism::graph::test {
namespace {

constexpr link::Link kFast{100, 1'000'000'000, 0, 0};
constexpr link::Link kSlow{5000, 1'000'000'000, 0, 0};

TEST(ApplyLinks, ATransferTakesTheTimeOfItsCommunication) {
  Rig rig(0, 2);
  const uint32_t fast = rig.group("fast", {0, 1});
  const uint32_t slow = rig.group("slow", {0, 1});
  const uint32_t alone = rig.collective(Kind::Barrier, slow);
  const uint32_t moved = rig.collective(Kind::Broadcast, fast, 64, 0);
  const uint32_t transfer = rig.builder.add_transfer(rig.cpu, moved);
  const std::vector<Part> parts{Rig::part(Kind::Send, fast, 1, 10),
                                Rig::part(Kind::Recv, slow, 1, 20)};
  const uint32_t batch = rig.builder.add_batch(rig.comm, parts);
  const uint32_t moved_batch = rig.builder.add_batch(rig.comm, parts);
  const uint32_t batch_transfer = rig.builder.add_transfer(rig.cpu, moved_batch);
  Program program = rig.finish();
  apply_links(program,
              [](const Communicator& c) { return c.description == "fast" ? kFast : kSlow; });
  EXPECT_EQ(program.nodes[alone].duration, 5000);
  EXPECT_EQ(program.nodes[moved].duration, 0);
  EXPECT_EQ(program.nodes[transfer].duration, 164);
  EXPECT_EQ(program.parts[program.nodes[batch].first_part].duration, 110);
  EXPECT_EQ(program.parts[program.nodes[batch].first_part + 1].duration, 5020);
  EXPECT_EQ(program.parts[program.nodes[moved_batch].first_part].duration, 0);
  EXPECT_EQ(program.nodes[batch_transfer].duration, 110 + 5020);
}

TEST(ScaleCompute, ScalesOnlyComputeAndRounds) {
  Rig rig(0, 2);
  const uint32_t world = rig.group("world", {0, 1});
  rig.compute(101);
  rig.collective(Kind::Barrier, world, 0, -1, 77);
  Program program = rig.finish();
  scale_compute(program, 0.5);
  EXPECT_EQ(program.nodes[0].duration, 51);
  EXPECT_EQ(program.nodes[1].duration, 77);
}

}  // namespace
}  // namespace prism::graph::test
