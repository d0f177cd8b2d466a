// SPDX-License-Identifier: Apache-2.0
/// 1F1B pipelines, whose times are known in closed form.
#include "tests/unit/replay/jobs.hpp"

namespace prism::replay::test {
namespace {

struct Pipeline {
  uint32_t stages;
  uint32_t replicas;
  uint32_t micro_batches;
  std::vector<DurationNs> forward;  ///< by stage
  std::vector<DurationNs> backward;
};

/// Stage s of replica d is rank s * replicas + d; messages cost nothing. The stages are classes,
/// recorded by the replica `recorded`. Activations are sent without waiting (isend).
graph::Job job_of(const Pipeline& p, Rank recorded) {
  const uint32_t world_size = p.stages * p.replicas;
  std::vector<std::vector<Rank>> classes;
  std::vector<graph::Program> programs;
  for (uint32_t stage = 0; stage < p.stages; ++stage) {
    const Rank rank = stage * p.replicas + recorded;
    classes.push_back(ranks_between(stage * p.replicas, (stage + 1) * p.replicas - 1));
    Rig rig(rank, world_size);
    const uint32_t world = rig.group("world", ranks_between(0, world_size - 1));
    const auto peer = [&](int32_t step) {
      return static_cast<int32_t>(rank) + step * static_cast<int32_t>(p.replicas);
    };
    const uint32_t down = rig.builder.add_lane(graph::LaneKind::Comm, "comm:down");
    const uint32_t up = rig.builder.add_lane(graph::LaneKind::Comm, "comm:up");
    const auto run = [&](bool forward) {
      const bool receives = forward ? stage > 0 : stage + 1 < p.stages;
      const bool sends = forward ? stage + 1 < p.stages : stage > 0;
      if (receives) {
        rig.message(Kind::Recv, world, peer(forward ? -1 : 1), 64, 0, forward ? 0 : 1);
      }
      const uint32_t done = rig.compute(forward ? p.forward[stage] : p.backward[stage]);
      if (sends) {
        rig.builder.add_message(
            forward ? down : up,
            Rig::part(Kind::Send, world, peer(forward ? 1 : -1), 64, 0, forward ? 0 : 1), {done});
      }
    };
    const uint32_t warm_up = std::min(p.micro_batches, p.stages - stage - 1);
    for (uint32_t i = 0; i < warm_up; ++i) {
      run(true);
    }
    for (uint32_t i = warm_up; i < p.micro_batches; ++i) {
      run(true);
      run(false);
    }
    for (uint32_t i = 0; i < warm_up; ++i) {
      run(false);
    }
    programs.push_back(rig.finish());
  }
  auto job = graph::instantiate(world_size, classes, std::move(programs));
  EXPECT_TRUE(job.ok()) << job.status().to_string();
  return job.ok() ? std::move(job).value() : graph::Job{};
}

/// The textbook recurrence of 1F1B, written without lanes, messages or engine.
TimeNs recurrence(const Pipeline& p) {
  const uint32_t stages = p.stages;
  const uint32_t m = p.micro_batches;
  std::vector<std::vector<TimeNs>> f(stages, std::vector<TimeNs>(m, -1));
  std::vector<std::vector<TimeNs>> b = f;
  std::vector<TimeNs> free(stages, 0);
  std::vector<uint32_t> next_f(stages, 0);
  std::vector<uint32_t> next_b(stages, 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t s = 0; s < stages; ++s) {
      const uint32_t warm_up = std::min(m, stages - s - 1);
      // Forward unless as many are ahead as the schedule allows.
      const bool forward = next_f[s] < m && next_f[s] - next_b[s] <= warm_up;
      if (forward) {
        const TimeNs input = s == 0 ? 0 : f[s - 1][next_f[s]];
        if (input >= 0) {
          free[s] = std::max(free[s], input) + p.forward[s];
          f[s][next_f[s]++] = free[s];
          moved = true;
        }
      } else if (next_b[s] < next_f[s]) {
        const TimeNs input = s + 1 == stages ? 0 : b[s + 1][next_b[s]];
        if (input >= 0) {
          free[s] = std::max(free[s], input) + p.backward[s];
          b[s][next_b[s]++] = free[s];
          moved = true;
        }
      }
    }
  }
  return *std::max_element(free.begin(), free.end());
}

TEST(Pipeline, BubbleIsThatOfTheTextbook) {
  for (const uint32_t stages : {2U, 4U, 8U}) {
    for (const uint32_t m : {stages, 2 * stages, 4 * stages}) {
      const DurationNs f = 1000;
      const DurationNs b = 2000;
      const Pipeline p{stages, 2, m, std::vector<DurationNs>(stages, f),
                       std::vector<DurationNs>(stages, b)};
      const ReplayResult result = must_replay(job_of(p, 1));
      // Between a rank's first forward and last backward, it is busy m (f + b) and idle
      // (p - 1) (f + b): bubble / whole = (p - 1) / (m + p - 1).
      EXPECT_EQ(result.end, (m + stages - 1) * (f + b));
      const TimeSplit& first = result.classes[0].representative[0];
      EXPECT_EQ(first.compute, m * (f + b));
      EXPECT_EQ(first.waiting, (stages - 1) * (f + b));
      EXPECT_EQ(first.communication, 0);
    }
  }
}

TEST(Pipeline, OneStageTwiceAsSlow) {
  // 2 stages, 4 micro-batches, f = 100, b = 200; stage 1 takes twice as long: it is never idle
  // after its first input, and stage 0 ends with its own last backward:
  // 100 + 4 (200 + 400) + 200.
  const Pipeline p{2, 1, 4, {100, 200}, {200, 400}};
  const ReplayResult result = must_replay(job_of(p, 0));
  EXPECT_EQ(result.end, 100 + 4 * 600 + 200);
  EXPECT_EQ(result.classes[1].representative[0].waiting, 100);
  EXPECT_EQ(result.critical_path.by_kind.at(Kind::Compute), result.end);
}

TEST(Pipeline, EqualsTheRecurrenceForUnevenStages) {
  const Pipeline p{
      8, 4, 24, {70, 110, 90, 300, 80, 95, 120, 60}, {150, 210, 180, 550, 170, 200, 230, 140}};
  EXPECT_EQ(must_replay(job_of(p, 3)).end, recurrence(p));
}

TEST(Pipeline, ReplicasBehaveLikeTheRecordedOne) {
  const Pipeline p{4, 8, 6, {10, 20, 30, 40}, {20, 40, 60, 80}};
  const ReplayResult result = must_replay(job_of(p, 5));
  for (const ClassTimes& times : result.classes) {
    EXPECT_EQ(times.least, times.representative);
    EXPECT_EQ(times.most, times.representative);
  }
}

}  // namespace
}  // namespace prism::replay::test
