// SPDX-License-Identifier: Apache-2.0
#include "core/replay/urgency.hpp"

#include <gmock/gmock.h>

#include "core/graph/messages.hpp"
#include "tests/unit/replay/jobs.hpp"

namespace prism::replay::test {
namespace {

using testing::ElementsAre;

TEST(Urgency, GrowsWithTheNumberOfRanksInBetween) {
  // 0 - 1 - 2 by messages, 2 and 3 in a group of two; 4 shares only the world, of five.
  std::vector<Write> writes;
  for (Rank rank = 0; rank < 5; ++rank) {
    writes.push_back([rank](Rig& rig, uint32_t world) {
      const uint32_t pair = rig.group("pair", {2, 3});
      if (rank == 0 || rank == 1) {
        rig.message(rank == 0 ? Kind::Send : Kind::Recv, world, rank == 0 ? 1 : 0);
      }
      if (rank == 1 || rank == 2) {
        rig.message(rank == 1 ? Kind::Send : Kind::Recv, world, rank == 1 ? 2 : 1);
      }
      if (pair != kNone) {
        rig.collective(Kind::AllReduce, pair);
      }
      rig.collective(Kind::AllReduce, world);
    });
  }
  const graph::Job job = job_of(writes);
  const auto messages = graph::connect_messages(job);
  ASSERT_TRUE(messages.ok());
  // Distances 0, 1, 2, 4, 5.
  EXPECT_THAT(levels_of_urgency(State(job, *messages), {0}), ElementsAre(0, 1, 2, 3, 3));
  EXPECT_THAT(levels_of_urgency(State(job, *messages), {4, 1}), ElementsAre(1, 0, 1, 2, 0));
  EXPECT_THAT(levels_of_urgency(State(job, *messages), {}), ElementsAre(63, 63, 63, 63, 63));
}

TEST(UrgentFirst, TakesTheMostUrgentAndOfThoseTheLatest) {
  UrgentFirst work;
  work.set_levels({63, 2, 0, 2});
  for (const Rank rank : {0U, 1U, 2U, 3U}) {
    work.push_back({rank, 0});
  }
  std::vector<Rank> order;
  for (; !work.empty(); work.pop_back()) {
    order.push_back(work.back().rank);
  }
  EXPECT_THAT(order, ElementsAre(2, 3, 1, 0));
}

}  // namespace
}  // namespace prism::replay::test
