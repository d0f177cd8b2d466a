// SPDX-License-Identifier: Apache-2.0
#include "core/replay/wall_clock.hpp"

#include <gmock/gmock.h>

#include "tests/reference/scripted_outside.hpp"
#include "tests/unit/replay/jobs.hpp"

namespace prism::replay::test {
namespace {

using reference::ScriptedOutside;
using std::chrono::steady_clock;
using testing::ElementsAre;
using testing::HasSubstr;

/// Says what it is told to say, however wrong, and remembers what it hears.
class Puppet final : public ExternalArrivals, public CommunicationEnds {
 public:
  explicit Puppet(SimulatedClock& clock) : clock_(clock) {}

  /// When the clock shows `at`.
  void say(TimeNs at, const ExternalArrival& arrival) {
    says_.push_back({at, arrival});
    clock_.set_alarm(at);
  }
  bool ready() const override { return next_ < says_.size() && says_[next_].first <= clock_.now(); }
  bool poll(ExternalArrival& arrival) override {
    if (!ready()) {
      return false;
    }
    arrival = says_[next_++].second;
    return true;
  }
  void sleep_until(steady_clock::time_point /*deadline*/) override {}
  void ended(const CommunicationEnd& communication) override {
    heard.emplace_back(clock_.now(), communication.end);
  }

  std::vector<std::pair<TimeNs, TimeNs>> heard;  ///< when, and which end

 private:
  SimulatedClock& clock_;
  std::vector<std::pair<TimeNs, ExternalArrival>> says_;
  size_t next_ = 0;
};

constexpr uint32_t kFirst = 1;   ///< node of the first all-reduce
constexpr uint32_t kSecond = 3;  ///< of the second

/// Rank 1 arrives at the first all-reduce at 100 and at the second 10 after the first; both
/// take 50.
graph::Job two_ranks() {
  const Write write = [](Rig& rig, uint32_t world) {
    rig.compute(100);
    rig.collective(Kind::AllReduce, world, 8, -1, 50);
    rig.compute(10);
    rig.collective(Kind::AllReduce, world, 8, -1, 50);
  };
  return job_of({write, write});
}

class WallClock : public testing::Test {
 protected:
  Result<WallClockResult> run(std::vector<Rank> outside = {0}) {
    WallClockOptions options;
    options.record = {0, 1};
    options.answer_timeout = 5'000'000;
    return replay_on_clock(job, {}, {std::move(outside), puppet, puppet, clock}, options);
  }
  std::string error(std::vector<Rank> outside = {0}) {
    const Result<WallClockResult> result = run(std::move(outside));
    return result.ok() ? "none" : result.status().to_string();
  }

  const graph::Job job = two_ranks();
  SimulatedClock clock;
  Puppet puppet{clock};
};

TEST_F(WallClock, EndsArePublishedWhenTheyCome) {
  puppet.say(70, {0, kFirst, 70});
  puppet.say(400, {0, kSecond, 400});
  const auto result = run();
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_THAT(puppet.heard, ElementsAre(std::pair(150, 150), std::pair(450, 450)));
  EXPECT_EQ(result->replay.end, 450);
  EXPECT_EQ(result->replay.recorded[1].nodes[kSecond].arrival, 160);
  EXPECT_EQ(result->replay.recorded[1].nodes[kSecond].end, 450);
  EXPECT_EQ(result->report.arrivals, 2U);
  EXPECT_EQ(result->report.lateness.count(), 2U);
  EXPECT_EQ(result->report.lateness.max(), 0);
  EXPECT_EQ(result->report.known_too_late, 0U);
}

TEST_F(WallClock, WhatIsLateIsCounted) {
  puppet.say(500, {0, kFirst, 120});
  puppet.say(600, {0, kSecond, 600});
  const auto result = run();
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_THAT(puppet.heard, ElementsAre(std::pair(500, 170), std::pair(650, 650)));
  EXPECT_EQ(result->report.known_too_late, 1U);
  EXPECT_EQ(result->report.lateness.max(), 330);
  EXPECT_EQ(result->report.arrival_delay.max(), 380);
}

TEST_F(WallClock, NobodyOutsideTakesNoTime) {
  const auto result = run({});
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_EQ(result->replay.end, 210);
  EXPECT_EQ(clock.now(), 0);
}

TEST_F(WallClock, SilenceSaysWhoIsAwaited) {
  puppet.say(70, {0, kFirst, 70});
  const auto result = run();
  EXPECT_EQ(result.status().code(), Code::DeadlineExceeded);
  EXPECT_THAT(
      std::string(result.status().message()),
      HasSubstr("nothing came from outside for 5 ms; awaited:\n  rank 0, lane cpu:0, node 3"));
  EXPECT_EQ(clock.now(), 5'000'150);
}

TEST_F(WallClock, RanksThatAreNotInTheJob) {
  EXPECT_THAT(error({2}), HasSubstr("rank 2 is to run outside, but the job has 2 ranks"));
}

TEST_F(WallClock, ArrivalsOfRanksThatAreNotOutside) {
  puppet.say(5, {1, kFirst, 5});
  EXPECT_THAT(error(), HasSubstr("of rank 1, which does not run outside"));
}

TEST_F(WallClock, ArrivalsAtWhatIsNoCommunication) {
  puppet.say(5, {0, 0, 5});
  EXPECT_THAT(error(), HasSubstr("node 0 (compute), which is no communication"));
}

TEST_F(WallClock, ArrivalsAtNodesThatDoNotExist) {
  puppet.say(5, {0, 4, 5});
  EXPECT_THAT(error(), HasSubstr("of rank 0, at node 4, of 4"));
}

TEST_F(WallClock, ArrivalsOutOfOrder) {
  puppet.say(5, {0, kSecond, 5});
  EXPECT_THAT(error(), HasSubstr("but the next of that lane is rank 0, lane cpu:0, node 1"));
}

TEST_F(WallClock, ArrivalsTwice) {
  puppet.say(5, {0, kFirst, 5});
  puppet.say(6, {0, kFirst, 6});
  EXPECT_THAT(error(), HasSubstr("while one of that lane has not ended"));
}

TEST_F(WallClock, ArrivalsBeforeAnEndIsPublished) {
  puppet.say(120, {0, kFirst, 120});
  puppet.say(130, {0, kSecond, 130});
  EXPECT_THAT(error(), HasSubstr("while one of that lane has not ended"));
}

TEST_F(WallClock, ArrivalsAfterTheLast) {
  // A small message over NCCL does not wait for its receiver.
  const graph::Job message =
      job_of({[](Rig& rig, uint32_t world) { rig.message(Kind::Send, world, 1, 64, 20); },
              [](Rig& rig, uint32_t world) { rig.message(Kind::Recv, world, 0, 64, 20); }},
             "nccl");
  puppet.say(5, {0, 0, 5});
  puppet.say(30, {0, 0, 30});
  const auto result = replay_on_clock(message, {}, {{0, 1}, puppet, puppet, clock}, {});
  EXPECT_THAT(result.status().to_string(), HasSubstr("after all communications of that lane"));
}

TEST_F(WallClock, ArrivalsInTheFuture) {
  puppet.say(5, {0, kFirst, 25});
  EXPECT_THAT(error(), HasSubstr("lies 20 ns in the future"));
}

TEST_F(WallClock, ArrivalsBeforeTheEndBeforeThem) {
  puppet.say(120, {0, kFirst, 120});
  puppet.say(200, {0, kSecond, 165});
  EXPECT_THAT(error(), HasSubstr("lies 5 ns before the end of the communication before it"));
}

TEST_F(WallClock, RanksThatWaitForEachOtherWhoeverIsOutside) {
  const auto first_to = [](int32_t peer) -> Write {
    return [=](Rig& rig, uint32_t world) {
      rig.message(Kind::Recv, world, peer);
      rig.message(Kind::Send, world, peer);
    };
  };
  const graph::Job circle = job_of({first_to(1), first_to(0)});
  puppet.say(5, {0, 0, 5});
  const auto result = replay_on_clock(circle, {}, {{0}, puppet, puppet, clock}, {});
  EXPECT_THAT(result.status().to_string(), HasSubstr("they wait for each other in a circle"));
  EXPECT_LT(clock.now(), 1'000'000) << "no time-out is waited for";
}

TEST_F(WallClock, ReceivesFromAnySourceWaitForMessagesFromOutside) {
  // Rank 2's message would come first if the replay did not wait until rank 1 may have sent.
  const auto receiver = [](Rig& rig, uint32_t world) {
    rig.message(Kind::Recv, world, graph::kAnySource, 64, 10);
    rig.message(Kind::Recv, world, graph::kAnySource, 64, 10);
  };
  const auto sender = [](DurationNs at) -> Write {
    return [=](Rig& rig, uint32_t world) {
      rig.compute(at);
      rig.message(Kind::Send, world, 0, 64, 1);
    };
  };
  const graph::Job three = job_of({receiver, sender(300), sender(500)});
  WallClockOptions options;
  options.record = {2};
  puppet.say(300, {1, 1, 300});
  const auto result = replay_on_clock(three, {}, {{1}, puppet, puppet, clock}, options);
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_THAT(puppet.heard, ElementsAre(std::pair(301, 301)));
  EXPECT_EQ(result->replay.recorded[0].nodes[1].end, 501);
}

TEST(WallClockInRealTime, NothingIsPublishedTooEarlyAndTimesAreThoseOfTheVirtualClock) {
  std::vector<Write> writes;
  for (int rank = 0; rank < 4; ++rank) {
    writes.push_back([=](Rig& rig, uint32_t world) {
      for (int i = 0; i < 20; ++i) {
        rig.compute(100'000 * ((rank + i) % 4));
        rig.collective(Kind::AllReduce, world, 8, -1, 200'000);
      }
    });
  }
  const graph::Job job = job_of(writes);
  const ReplayResult expected = must_replay(job);

  class Checked final : public CommunicationEnds {
   public:
    Checked(ScriptedOutside& script, const Clock& clock) : script_(script), clock_(clock) {}
    void ended(const CommunicationEnd& communication) override {
      EXPECT_GE(clock_.now(), communication.end);
      script_.ended(communication);
    }

   private:
    ScriptedOutside& script_;
    const Clock& clock_;
  };
  SystemClock clock(steady_clock::now());
  const std::vector<Rank> outside = {1, 2};
  ScriptedOutside script(job, {}, outside, clock);
  Checked checked(script, clock);
  WallClockOptions options;
  options.record = {0, 3};
  const auto result = replay_on_clock(job, {}, {outside, script, checked, clock}, options);
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  for (const RecordedTimes& rank : result->replay.recorded) {
    for (size_t node = 0; node < rank.nodes.size(); ++node) {
      EXPECT_EQ(rank.nodes[node].end, expected.recorded[rank.rank].nodes[node].end);
    }
  }
  EXPECT_GE(clock.now(), expected.end);
}

}  // namespace
}  // namespace prism::replay::test
