// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/selector.hpp"

#include <array>
#include <gtest/gtest.h>

#include "tests/unit/analysis/pipeline_job.hpp"
#include "tests/unit/graph/programs.hpp"

namespace prism::analysis {
namespace {

constexpr std::array<std::string_view, 1> kOwnKeys = {"factor"};

Result<Selector> selector_of(const std::string& text) {
  PRISM_TRY_ASSIGN(OptionText option, OptionText::parse("--scale", text));
  return Selector::parse(std::move(option), kOwnKeys);
}
std::string error_of(const std::string& text) {
  const Result<Selector> selector = selector_of(text);
  return selector.ok() ? "" : selector.status().to_string();
}

/// 3 stages, 2 replicas, 4 micro-batches: 17 nodes on the first and last stage, 25 on the middle.
class Selectors : public testing::Test {
 protected:
  std::vector<Rank> ranks(const std::string& text, uint32_t iteration = 0) {
    const Result<Selector> selector = selector_of(text);
    EXPECT_TRUE(selector.ok()) << selector.status().to_string();
    const Selection selection(*selector, subject_, iteration);
    std::vector<Rank> found;
    for (Rank rank = 0; rank < job_.world_size; ++rank) {
      if (selection.selects(rank) && selection.marks(rank).count > 0) {
        found.push_back(rank);
      }
    }
    return found;
  }
  uint64_t count(const std::string& text, Rank rank, uint32_t iteration = 0) {
    const Result<Selector> selector = selector_of(text);
    EXPECT_TRUE(selector.ok()) << selector.status().to_string();
    return Selection(*selector, subject_, iteration).marks(rank).count;
  }
  std::string nothing(const std::string& text) {
    const Result<Selector> selector = selector_of(text);
    EXPECT_TRUE(selector.ok());
    return selector->nothing_selected(subject_, 7).to_string();
  }

  graph::Job job_ = test::pipeline_job({.forward = {10, 20, 30}});
  Subject subject_{job_};
};

TEST_F(Selectors, Ranks) {
  using Ranks = std::vector<Rank>;
  EXPECT_EQ(ranks("factor=2"), (Ranks{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(ranks("rank=0-2,5"), (Ranks{0, 1, 2, 5}));
  EXPECT_EQ(ranks("rank=\"rank % 3 == 1\""), (Ranks{1, 4}));
  EXPECT_EQ(ranks("stage=1"), (Ranks{2, 3}));
  EXPECT_EQ(ranks("replica=1 stage=0-1"), (Ranks{1, 3}));
  EXPECT_EQ(ranks("name=forward-recv"), (Ranks{2, 3, 4, 5}));
}

TEST_F(Selectors, Nodes) {
  EXPECT_EQ(count("factor=2", 2), 25U);
  EXPECT_EQ(count("kind=compute", 2), 8U);
  EXPECT_EQ(count("kind=communication", 2), 17U);
  EXPECT_EQ(count("kind=gap", 2), 25U);
  EXPECT_EQ(count("kind=compute,gap", 2), 33U);
  EXPECT_EQ(count("kind=send,all_reduce", 2), 9U);
  EXPECT_EQ(count("name=*-compute", 2), 8U);
  EXPECT_EQ(count("name=forward-?e*", 2), 8U);
  EXPECT_EQ(count("phase=forward", 2), 12U);
  EXPECT_EQ(count("label=backward", 2), 12U);
  EXPECT_EQ(count("label=gradients", 2), 1U);
  EXPECT_EQ(count("micro_batch=0,2-3 kind=compute", 2), 6U);
  EXPECT_EQ(count("lane=cpu*", 2), 25U);
  EXPECT_EQ(count("communicator=pp", 2), 16U);
  EXPECT_EQ(count("communicator=dp*", 2), 1U);
  EXPECT_EQ(count("iteration=7", 2, 7), 25U);
  EXPECT_EQ(count("iteration=7", 2, 6), 0U);
}

TEST_F(Selectors, PartsOfABatchAreSelectedByThemselves) {
  std::vector<graph::Program> programs;
  for (Rank rank = 0; rank < 2; ++rank) {
    graph::test::Rig rig(rank, 2);
    const auto peer = static_cast<int32_t>(1 - rank);
    const uint32_t there = rig.group("there", {0, 1});
    const uint32_t back = rig.group("back", {0, 1});
    const bool first = rank == 0;
    rig.builder.add_batch(rig.cpu,
                          {rig.part(first ? graph::Kind::Send : graph::Kind::Recv, there, peer),
                           rig.part(first ? graph::Kind::Recv : graph::Kind::Send, back, peer)});
    programs.push_back(rig.finish());
  }
  const Result<graph::Job> job = graph::instantiate(2, {{0}, {1}}, std::move(programs));
  ASSERT_TRUE(job.ok());
  const Subject subject(*job);
  const auto parts = [&](const std::string& text) {
    return Selection(*selector_of(text), subject, 0).marks(0).parts;
  };
  EXPECT_EQ(parts("kind=batch"), (std::vector<bool>{true, true}));
  EXPECT_EQ(parts("kind=send"), (std::vector<bool>{true, false}));
  EXPECT_EQ(parts("communicator=back"), (std::vector<bool>{false, true}));
  EXPECT_EQ(parts("communicator=back kind=send"), (std::vector<bool>{false, false}));
}

TEST_F(Selectors, MistakesOfTheText) {
  EXPECT_NE(
      error_of("stge=1").find("--scale:1:1: error: unknown key 'stge'; did you mean 'stage'?"),
      std::string::npos);
  EXPECT_NE(error_of("xyzzyx=1").find("there are factor, rank, stage,"), std::string::npos);
  EXPECT_NE(error_of("kind=al_reduce")
                .find(":1:6: error: there is no kind 'al_reduce'; did you "
                      "mean 'all_reduce'?"),
            std::string::npos);
  EXPECT_NE(error_of("kind=compute,").find("there is no kind ''"), std::string::npos);
  for (const char* text :
       {"rank=a", "rank=3-1", "rank=1,,2", "stage=-1", "micro_batch=1-", "rank=99999999999"}) {
    EXPECT_NE(error_of(text).find("takes numbers and ascending ranges"), std::string::npos) << text;
  }
  EXPECT_NE(error_of("rank=\"rank %% 2 == 1\"").find("expected a number"), std::string::npos);
  EXPECT_NE(error_of("rank=\"rank % 2 == x\"").find("a whole number is expected"),
            std::string::npos);
}

TEST_F(Selectors, WhatSelectsNothingSaysWhatThereIs) {
  EXPECT_NE(nothing("kind=compute stage=9 factor=2")
                .find("--scale:1:20: error: no node has stage=9; there are 0-2"),
            std::string::npos);
  EXPECT_NE(nothing("name=forward").find("there are 'backward-compute', 'backward-recv'"),
            std::string::npos);
  EXPECT_NE(nothing("communicator=tp").find("there are 'dp', 'pp'"), std::string::npos);
  EXPECT_NE(nothing("iteration=8").find("there are 7"), std::string::npos);
  EXPECT_NE(nothing("layer=1").find("there are none"), std::string::npos);
  EXPECT_NE(nothing("stage=0 name=forward-recv").find("no node fits all of these words"),
            std::string::npos);
}

}  // namespace
}  // namespace prism::analysis
