// SPDX-License-Identifier: Apache-2.0
#include "core/schedule/recorder.hpp"

#include <gtest/gtest.h>

namespace prism::schedule {
namespace {

using graph::Kind;
using graph::Program;

/// Writes events as an agent would: time advances by what the program computes, and every event
/// costs the agent something that must not be counted.
class Script {
 public:
  Script() {
    wire::Hello hello;
    hello.rank = 1;
    hello.world_size = 4;
    add(hello);
    wire::Group group;
    group.member = 1;
    group.name = "0";
    group.description = "default_pg";
    group.backend = "gloo";
    group.ranks = {0, 1, 2, 3};
    add(group);
  }
  Script& compute(int64_t ns) {
    now_ += ns;
    return *this;
  }
  uint64_t issue(uint8_t kind, uint64_t bytes, uint64_t batch = 0, int32_t peer = -1,
                 int32_t tag = 0, uint8_t flags = wire::kOpAsync) {
    wire::Op op;
    op.id = ++ops_;
    op.kind = kind;
    op.batch = batch;
    op.peer = peer;
    op.tag = tag;
    op.flags = flags;
    op.dtype = PRISM_DTYPE_F32;
    (kind == PRISM_COMM_RECV ? op.output_bytes : op.input_bytes) = bytes;
    add(op);
    wire::Done done;
    done.op = op.id;
    if (kind == PRISM_COMM_RECV) {
      done.made_up = {{wire::kMadeUpFill, bytes}};
    }
    recording_.events.emplace_back(done);
    return op.id;
  }
  Script& wait(uint64_t op, uint8_t via = wire::kWaitWork) {
    wire::Wait wait;
    wait.op = op;
    wait.via = via;
    add(wait);
    return *this;
  }
  Script& mark(uint8_t kind) {
    wire::Mark mark;
    mark.kind = kind;
    add(mark);
    return *this;
  }
  Recording finish() {
    add(wire::Bye{});
    recording_.rank = 1;
    recording_.world_size = 4;
    recording_.complete = true;
    return recording_;
  }

 private:
  template <typename Event>
  void add(Event event) {
    event.clocks.mono_ns = now_;
    event.clocks.cost_mono_ns = cost_;
    now_ += kAgentCost;
    cost_ += kAgentCost;
    recording_.events.emplace_back(event);
  }

  static constexpr int64_t kAgentCost = 37;
  Recording recording_;
  int64_t now_ = 1'000'000;
  int64_t cost_ = 0;
  uint64_t ops_ = 0;
};

DurationNs compute_time(const Program& program, uint32_t iteration) {
  DurationNs sum = 0;
  for (const graph::Node& node : program.nodes) {
    if (node.kind == Kind::Compute && node.iteration == iteration) {
      sum += node.duration;
    }
  }
  return sum;
}

size_t count(const Program& program, Kind kind, uint32_t iteration) {
  size_t n = 0;
  for (const graph::Node& node : program.nodes) {
    n += node.kind == kind && node.iteration == iteration ? 1 : 0;
  }
  return n;
}

TEST(Recorder, IterationsEndAtTheLastStepBeforeTheNextForward) {
  Script script;
  script.compute(500);
  for (int i = 0; i < 3; ++i) {
    script.mark(wire::kMarkForward).compute(100);
    const uint64_t op = script.issue(PRISM_COMM_ALL_REDUCE, 64);
    script.wait(op).compute(10);
    script.mark(wire::kMarkOptimizerBegin).compute(5).mark(wire::kMarkOptimizerEnd);
    script.mark(wire::kMarkOptimizerBegin)
        .compute(5)
        .mark(wire::kMarkOptimizerEnd);  // a second one
    script.compute(1);
  }
  const Result<RecordedRank> recorded = build_program(script.finish());
  ASSERT_TRUE(recorded.ok()) << recorded.status().to_string();
  const Program& program = recorded->program;
  EXPECT_EQ(recorded->training_iterations, 3u);
  EXPECT_EQ(program.iterations, 5u);
  EXPECT_EQ(compute_time(program, 0), 500);
  EXPECT_EQ(compute_time(program, 1), 120);
  EXPECT_EQ(compute_time(program, 2), 121);  // what follows a step belongs to the next iteration
  EXPECT_EQ(compute_time(program, 3), 121);
  EXPECT_EQ(compute_time(program, 4), 1);
  EXPECT_EQ(count(program, Kind::AllReduce, 2), 1u);
  EXPECT_EQ(count(program, Kind::Transfer, 2), 1u);
  EXPECT_EQ(recorded->iteration_shape[1], recorded->iteration_shape[2]);
  EXPECT_EQ(recorded->iteration_bytes[1], recorded->iteration_bytes[2]);
}

TEST(Recorder, SizesAloneMakeNoOtherKindOfIteration) {
  Script script;
  for (const uint64_t bytes : {uint64_t{64}, uint64_t{128}}) {
    script.mark(wire::kMarkForward).compute(10);
    script.wait(script.issue(PRISM_COMM_ALL_REDUCE, bytes)).mark(wire::kMarkOptimizerEnd);
  }
  const Result<RecordedRank> recorded = build_program(script.finish());
  ASSERT_TRUE(recorded.ok()) << recorded.status().to_string();
  ASSERT_EQ(recorded->training_iterations, 2u);
  EXPECT_EQ(recorded->iteration_shape[1], recorded->iteration_shape[2]);
  EXPECT_EQ(recorded->iteration_bytes[1], 64u);
  EXPECT_EQ(recorded->iteration_bytes[2], 128u);
}

TEST(Recorder, WithoutAnOptimizerTheProgramIsOneIteration) {
  Script script;
  script.compute(10).mark(wire::kMarkForward).compute(20);
  const Result<RecordedRank> recorded = build_program(script.finish());
  ASSERT_TRUE(recorded.ok());
  EXPECT_FALSE(recorded->has_optimizer);
  EXPECT_EQ(recorded->training_iterations, 1u);
  EXPECT_EQ(compute_time(recorded->program, 1), 30);
}

TEST(Recorder, DataMovesWhereTheProgramWaits) {
  Script script;
  const uint64_t op = script.compute(10).issue(PRISM_COMM_ALL_REDUCE, 64);
  script.compute(50).wait(op).wait(op).compute(7);
  const Result<RecordedRank> recorded = build_program(script.finish());
  ASSERT_TRUE(recorded.ok());
  std::vector<Kind> cpu;
  for (const graph::Node& node : recorded->program.nodes) {
    if (node.lane == 0) {
      cpu.push_back(node.kind);
    }
  }
  // group, op, wait, wait again, end: a second wait moves nothing.
  EXPECT_EQ(cpu, (std::vector<Kind>{Kind::Compute, Kind::Compute, Kind::Compute, Kind::Transfer,
                                    Kind::Compute, Kind::Compute}));
}

TEST(Recorder, ASynchronousCollectiveMovesItsDataInTheCall) {
  Script script;
  script.compute(10).issue(PRISM_COMM_ALL_REDUCE, 64, 0, -1, 0, 0);
  script.compute(50);
  const Result<RecordedRank> recorded = build_program(script.finish());
  ASSERT_TRUE(recorded.ok());
  DurationNs after_transfer = 0;
  bool moved = false;
  for (const graph::Node& node : recorded->program.nodes) {
    moved = moved || node.kind == Kind::Transfer;
    after_transfer += moved ? node.duration : 0;
  }
  EXPECT_EQ(after_transfer, 50);
}

TEST(Recorder, AFutureIsTakenToBeWaitedForAtTheNextMark) {
  Script script;
  script.mark(wire::kMarkForward);
  const uint64_t op = script.issue(PRISM_COMM_ALL_REDUCE, 64);
  script.wait(op, wire::kWaitFuture).compute(40);
  script.mark(wire::kMarkOptimizerBegin).compute(3).mark(wire::kMarkOptimizerEnd);
  const Result<RecordedRank> recorded = build_program(script.finish());
  ASSERT_TRUE(recorded.ok());
  DurationNs before_transfer = 0;
  for (const graph::Node& node : recorded->program.nodes) {
    if (node.kind == Kind::Transfer) {
      break;
    }
    before_transfer += node.duration;
  }
  EXPECT_EQ(before_transfer, 40);
}

TEST(Recorder, WhatNobodyWaitsForIsMovedBeforeTheIterationEnds) {
  Script script;
  script.mark(wire::kMarkForward);
  script.issue(PRISM_COMM_SEND, 64, 0, 2);
  script.compute(40).mark(wire::kMarkOptimizerBegin).mark(wire::kMarkOptimizerEnd);
  const Result<RecordedRank> recorded = build_program(script.finish());
  ASSERT_TRUE(recorded.ok());
  EXPECT_EQ(count(recorded->program, Kind::Transfer, 1), 1u);
}

TEST(Recorder, MessagesOfABatchAreOneNode) {
  Script script;
  const uint64_t send = script.issue(PRISM_COMM_SEND, 64, 9, 2);
  const uint64_t receive = script.issue(PRISM_COMM_RECV, 32, 9, 0);
  script.compute(5).wait(receive).wait(send);
  const Result<RecordedRank> recorded = build_program(script.finish());
  ASSERT_TRUE(recorded.ok());
  const Program& program = recorded->program;
  EXPECT_EQ(count(program, Kind::Batch, 1), 1u);
  EXPECT_EQ(count(program, Kind::Transfer, 1), 1u);
  ASSERT_EQ(program.parts.size(), 2u);
  EXPECT_EQ(program.parts[0].peer, 2);
  EXPECT_EQ(program.parts[1].kind, Kind::Recv);
  ASSERT_EQ(recorded->made_up.size(), 1u);
  EXPECT_EQ(recorded->made_up[0].bytes, 32u);
  EXPECT_EQ(recorded->made_up[0].communicator, "default_pg");
}

TEST(Recorder, MessagesOutsideABatchDoNotWaitForEachOther) {
  Script script;
  script.issue(PRISM_COMM_RECV, 32, 0, 0, 7);
  script.issue(PRISM_COMM_RECV, 32, 0, 0, 8);
  script.issue(PRISM_COMM_SEND, 32, 0, 0, 7);
  const Result<RecordedRank> recorded = build_program(script.finish());
  ASSERT_TRUE(recorded.ok());
  EXPECT_EQ(recorded->program.lanes.size(), 4u);  // the CPU and one for each
}

TEST(Recorder, ContradictingEventsAreRefused) {
  Script script;
  script.wait(77);
  const Result<RecordedRank> unknown = build_program(script.finish());
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.status().to_string().find("never issued"), std::string::npos);

  Recording foreign = Script().finish();
  wire::Op op;
  op.group = 99;
  foreign.events.emplace_back(op);
  EXPECT_FALSE(build_program(foreign).ok());
}

}  // namespace
}  // namespace prism::schedule
