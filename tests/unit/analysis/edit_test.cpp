// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/edit.hpp"

#include <gtest/gtest.h>

#include "core/graph/timing.hpp"
#include "core/replay/engine.hpp"
#include "tests/unit/analysis/pipeline_job.hpp"
#include "tests/unit/graph/programs.hpp"

namespace prism::analysis {
namespace {

using graph::Kind;
using test::PipelineSpec;

std::string error_of(Operation operation, const std::string& text) {
  const Result<Edit> edit = Edit::parse(operation, text);
  return edit.ok() ? "" : edit.status().to_string();
}

DurationNs replayed(const graph::Job& job, const graph::Times& times) {
  const Result<replay::ReplayResult> result = replay::replay(job, times, {});
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return result->end;
}

class Edits : public testing::Test {
 protected:
  Edited apply(Operation operation, const std::string& text) {
    const Result<Edit> edit = Edit::parse(operation, text);
    EXPECT_TRUE(edit.ok()) << edit.status().to_string();
    Result<Edited> edited = edit->apply(subject_, 0, times_);
    EXPECT_TRUE(edited.ok()) << edited.status().to_string();
    return *edited;
  }
  std::string no_effect(Operation operation, const std::string& text) {
    const Result<Edit> edit = Edit::parse(operation, text);
    EXPECT_TRUE(edit.ok()) << edit.status().to_string();
    graph::Times times = times_;
    const Result<Edited> edited = edit->apply(subject_, 0, times);
    EXPECT_TRUE(edited.ok());
    return edit->check_effect(*edited, subject_, 0).to_string();
  }
  /// Durations of the nodes of one name.
  std::vector<DurationNs> durations(Rank rank, const std::string& name) {
    const graph::Program& program = job_.program(rank);
    std::vector<DurationNs> found;
    for (uint32_t node = 0; node < program.nodes.size(); ++node) {
      if (program.texts[program.labels[node].name] == name) {
        found.push_back(graph::TimesOfRank(job_, times_, rank).own_time(node));
      }
    }
    return found;
  }

  PipelineSpec spec_{.forward = {1000, 2000, 3000}};
  graph::Job job_ = test::pipeline_job(spec_);
  Subject subject_{job_};
  graph::Times times_;
};

using Durations = std::vector<DurationNs>;

TEST_F(Edits, TheIterationOfThePipelineIsThatOfTheRecurrence) {
  EXPECT_EQ(replayed(job_, times_), test::pipeline_time(spec_));
}

TEST_F(Edits, ScaleAStage) {
  const Edited edited = apply(Operation::Scale, "stage=1 kind=compute factor=1.5");
  EXPECT_EQ(edited.changed, 16U);
  EXPECT_EQ(times_.sets.size(), 2U);  // each rank is a class of its own
  EXPECT_EQ(durations(2, "forward-compute"), Durations(4, 3000));
  EXPECT_EQ(durations(0, "forward-compute"), Durations(4, 1000));
  spec_.forward[1] = 3000;
  EXPECT_EQ(replayed(job_, times_), test::pipeline_time(spec_));
}

TEST_F(Edits, FollowEachOther) {
  apply(Operation::Set, "rank=0 micro_batch=1 name=forward-compute duration=\"5 us\"");
  apply(Operation::Scale, "rank=0 phase=forward factor=0.5");
  EXPECT_EQ(durations(0, "forward-compute"), (Durations{500, 2500, 500, 500}));
  EXPECT_EQ(durations(1, "forward-compute"), Durations(4, 1000));
  apply(Operation::Set, "rank=0 kind=gap name=forward-compute duration=7ns");
  EXPECT_EQ(graph::TimesOfRank(job_, times_, 0).gap(0), 7);
  EXPECT_EQ(durations(0, "forward-compute"), (Durations{500, 2500, 500, 500}));
}

TEST_F(Edits, LinksAreThoseOfTheLinkModel) {
  link::Link link;
  link.latency_ns = 10'000;
  link.bandwidth_Bps = 1'000'000'000;
  link.per_message_ns = 300;
  const Edited edited =
      apply(Operation::Link, "communicator=pp latency=10us bandwidth=1GB/s per_message=300ns");
  EXPECT_EQ(edited.sizeless, 0U);
  EXPECT_EQ(durations(2, "forward-send"), Durations(4, 10'000 + 300 + 1024));
  EXPECT_EQ(durations(2, "gradients"), Durations{0});
  apply(Operation::Link, "kind=all_reduce latency=10us bandwidth=1GB/s per_message=300ns");
  graph::Job linked = job_;
  graph::apply_links(linked, [&](const graph::Communicator&) { return link; });
  EXPECT_EQ(replayed(job_, times_), replayed(linked, {}));
}

TEST_F(Edits, LevelAStageTakesTheMedianOfTheOthers) {
  apply(Operation::Level, "stage=2");
  EXPECT_EQ(durations(4, "forward-compute"), Durations(4, 1500));  // between 1000 and 2000
  EXPECT_EQ(durations(4, "backward-compute"), Durations(4, 3000));
  EXPECT_EQ(durations(0, "forward-compute"), Durations(4, 1000));
  spec_.forward[2] = 1500;
  EXPECT_EQ(replayed(job_, times_), test::pipeline_time(spec_));
}

TEST_F(Edits, LevelOfAllStagesTakesTheMedianOfAll) {
  apply(Operation::Level, "kind=compute peers=stages");
  for (const Rank rank : {0U, 3U, 5U}) {
    EXPECT_EQ(durations(rank, "forward-compute"), Durations(4, 2000)) << rank;
  }
}

TEST_F(Edits, LevelARankTakesWhatItsReplicaTakes) {
  apply(Operation::Scale, "rank=3 kind=compute factor=2");
  apply(Operation::Set, "rank=3 kind=gap duration=50ns");
  graph::Times slow = times_;
  apply(Operation::Level, "rank=3 kind=compute,gap");
  EXPECT_EQ(replayed(job_, times_), test::pipeline_time(spec_));
  times_ = slow;
  apply(Operation::Level, "rank=2,3 kind=compute");  // all of them: the median of all
  EXPECT_EQ(durations(3, "forward-compute"), Durations(4, 3000));
  EXPECT_EQ(durations(2, "forward-compute"), Durations(4, 3000));
}

TEST_F(Edits, LevelCallsTakesTheMedianOfWhatIsOfOneShape) {
  apply(Operation::Set, "rank=0 kind=send micro_batch=0 duration=90ns");
  apply(Operation::Set, "rank=0 kind=send micro_batch=1 duration=30ns");
  apply(Operation::Level, "rank=0 kind=send peers=calls");
  EXPECT_EQ(durations(0, "forward-send"), Durations(4, 0));
}

TEST_F(Edits, RanksOfAClassThatAreChangedAlikeShareTheirTimes) {
  graph::test::Rig rig(0, 64);
  rig.compute(100);
  rig.collective(Kind::AllReduce, rig.group("dp", graph::test::ranks_between(0, 63)));
  std::vector<graph::Program> programs;
  programs.push_back(rig.finish());
  const Result<graph::Job> job =
      graph::instantiate(64, {graph::test::ranks_between(0, 63)}, std::move(programs));
  ASSERT_TRUE(job.ok());
  const Subject subject(*job);
  graph::Times times;
  const Result<Edit> some = Edit::parse(Operation::Scale, "rank=3-10 kind=compute factor=3");
  const Result<Edit> all = Edit::parse(Operation::Scale, "kind=compute factor=2");
  ASSERT_TRUE(some->apply(subject, 0, times).ok());
  EXPECT_EQ(times.sets.size(), 1U);
  ASSERT_TRUE(all->apply(subject, 0, times).ok());
  EXPECT_EQ(times.sets.size(), 3U);
  EXPECT_EQ(graph::TimesOfRank(*job, times, 5).duration(0), 600);
  EXPECT_EQ(graph::TimesOfRank(*job, times, 11).duration(0), 200);
  const Result<Edit> level = Edit::parse(Operation::Level, "rank=5 kind=compute");
  ASSERT_TRUE(level->apply(subject, 0, times).ok());
  EXPECT_EQ(graph::TimesOfRank(*job, times, 5).duration(0), 200);
  EXPECT_EQ(graph::TimesOfRank(*job, times, 6).duration(0), 600);
}

TEST_F(Edits, Mistakes) {
  const auto contains = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  contains(error_of(Operation::Scale, "rank=1"), "'factor' is missing; write factor=1.14");
  for (const char* factor : {"-1", "1e7", "nan", "inf", "2x", "1.2.3"}) {
    contains(error_of(Operation::Scale, std::string("factor=") + factor),
             "--scale:1:8: error: factor takes a number from 0 to 1000000");
  }
  contains(error_of(Operation::Set, "rank=1"), "--set:1:1: error: 'duration' is missing");
  contains(error_of(Operation::Set, "duration=2h"), "duration takes 0 ns to 1 h");
  contains(error_of(Operation::Link, "latency=1us"), "'bandwidth' is missing");
  contains(error_of(Operation::Link, "latency=1us bandwidth=\"0 B/s\""), "at least 1 B/s");
  contains(error_of(Operation::Link, "kind=gap latency=1us bandwidth=1GB/s"), "has no gaps");
  contains(error_of(Operation::Level, "peers=replica"), "did you mean 'replicas'?");
  contains(error_of(Operation::Level, "kind=gap peers=calls"), "between replicas only");
  contains(error_of(Operation::Level, "kind=send stage=1"), "by what they compute");
  contains(no_effect(Operation::Scale, "stage=4 factor=2"), "there are 0-2");
  contains(no_effect(Operation::Link, "kind=compute latency=1us bandwidth=1GB/s"),
           "what is selected is no communication");
  EXPECT_EQ(no_effect(Operation::Scale, "stage=1 factor=2"), "ok");
}

TEST_F(Edits, ATransferWithoutSizeCannotBeComputed) {
  for (graph::Class& c : job_.classes) {
    for (graph::Part& part : c.program.parts) {
      part.bytes = 0;
    }
  }
  EXPECT_NE(no_effect(Operation::Link, "communicator=pp latency=1us bandwidth=1GB/s")
                .find("does not tell how many bytes"),
            std::string::npos);
  const Edited edited = apply(Operation::Link, "kind=communication latency=1us bandwidth=1GB/s");
  EXPECT_EQ(edited.sizeless, 64U);
  EXPECT_EQ(edited.changed, 70U);
}

TEST_F(Edits, NothingTakesMoreThanAnHour) {
  apply(Operation::Set, "rank=0 kind=compute duration=1h");
  const Result<Edit> edit = Edit::parse(Operation::Scale, "kind=compute factor=1000000");
  const Result<Edited> edited = edit->apply(subject_, 0, times_);
  ASSERT_FALSE(edited.ok());
  EXPECT_NE(
      edited.status().to_string().find("rank 0, lane cpu:0, node 0 (compute) would take more"),
      std::string::npos);
}

TEST_F(Edits, WithoutLikeRanksThereIsNothingToCompareWith) {
  const graph::Job alone = test::pipeline_job({.stages = 2, .replicas = 1, .forward = {1, 2}});
  const Subject subject(alone);
  graph::Times times;
  const Result<Edit> edit = Edit::parse(Operation::Level, "rank=1");
  const Result<Edited> edited = edit->apply(subject, 0, times);
  ASSERT_TRUE(edited.ok());
  EXPECT_EQ(edited->changed, 0U);
  EXPECT_NE(edit->check_effect(*edited, subject, 0).to_string().find("has no peers"),
            std::string::npos);
}

}  // namespace
}  // namespace prism::analysis
