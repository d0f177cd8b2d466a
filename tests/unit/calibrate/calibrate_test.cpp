// SPDX-License-Identifier: Apache-2.0
/// What was replayed is observed, and calibrated again: the durations must come back.
#include "core/calibrate/calibrate.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <optional>

#include "core/graph/check.hpp"
#include "core/graph/messages.hpp"
#include "core/replay/engine.hpp"
#include "tests/reference/random_job.hpp"

namespace prism::calibrate {
namespace {

using graph::Job;
using graph::Kind;
using graph::Node;
using graph::Program;

struct Replayed {
  Job job;
  replay::ReplayResult result;
};

Result<Replayed> replay_all(Job job, uint64_t eager_bytes) {
  replay::ReplayOptions options;
  options.eager_bytes = eager_bytes;
  options.critical_path = false;
  for (Rank rank = 0; rank < job.world_size; ++rank) {
    options.record.push_back(rank);
  }
  PRISM_TRY_ASSIGN(replay::ReplayResult result, replay::replay(job, options));
  return Replayed{std::move(job), std::move(result)};
}

/// No trace tells that a core moved the data of a communication: it is compute.
void without_transfers(std::vector<Program>& programs) {
  for (Program& program : programs) {
    for (Node& node : program.nodes) {
      if (node.kind == Kind::Transfer) {
        node.kind = Kind::Compute;
        node.of = graph::kNone;
      }
    }
  }
}

bool receives_from_anyone(const std::vector<Program>& programs) {
  return std::any_of(programs.begin(), programs.end(), [](const Program& program) {
    return std::any_of(program.parts.begin(), program.parts.end(),
                       [](const graph::Part& part) { return part.peer == graph::kAnySource; });
  });
}

/// Each rank a class of its own, as a trace shows it.
Program own_program(const Job& job, Rank rank) {
  Program program = job.program(rank);
  const Program& shared = job.program(rank);
  program.rank = rank;
  program.others.clear();
  for (uint32_t slot = 0; slot < shared.communicators.size(); ++slot) {
    const uint32_t index = job.communicator(rank, slot);
    if (index == graph::kNone) {
      program.communicators[slot].ranks = {rank};  // no node uses it
    } else {
      program.communicators[slot].ranks = job.communicators[index].ranks;
      program.communicators[slot].nth = job.communicators[index].nth;
      program.communicators[slot].description = job.communicators[index].description;
    }
  }
  for (graph::Part& part : program.parts) {
    const Rank peer = job.peer(rank, part);
    part.peer =
        static_cast<int32_t>(graph::position_of(program.communicators[part.communicator], peer));
  }
  return program;
}

/// When the parts of each rank ended. The partner of a part is found by counting.
class PartEnds {
 public:
  PartEnds(const Job& job, const graph::Messages& messages, const replay::ReplayResult& result,
           uint64_t eager_bytes)
      : job_(job), messages_(messages), result_(result), eager_bytes_(eager_bytes) {}

  TimeNs end(Rank rank, uint32_t p) const {
    const graph::Part& part = job_.program(rank).parts[p];
    const graph::ClassMessages& own = messages_.classes[job_.class_of[rank]];
    const TimeNs arrival = arrival_of(rank, own.node_of_part[p]);
    if (part.kind == Kind::Send && part.bytes <= eager_bytes_ &&
        job_.program(rank).communicators[part.communicator].backend == "nccl") {
      return arrival + part.duration;
    }
    const graph::Channel& channel =
        messages_.channels[messages_.channel_or_mailbox(rank, own.endpoint_of_part[p])];
    const bool sends = part.kind == Kind::Send;
    const Rank peer = sends ? channel.destination : channel.source;
    const graph::ClassMessages& its = messages_.classes[job_.class_of[peer]];
    const uint32_t other =
        its.endpoints[sends ? channel.receiver : channel.sender].parts[own.nth_of_part[p]];
    return std::max(arrival, arrival_of(peer, its.node_of_part[other])) + part.duration;
  }

 private:
  TimeNs arrival_of(Rank rank, uint32_t node) const {
    return result_.recorded[rank].nodes[node].arrival;
  }
  const Job& job_;
  const graph::Messages& messages_;
  const replay::ReplayResult& result_;
  uint64_t eager_bytes_;
};

Observation observe(const Replayed& replayed, uint64_t eager_bytes) {
  const Job& job = replayed.job;
  const graph::Messages messages = graph::connect_messages(job).value();
  const PartEnds ends(job, messages, replayed.result, eager_bytes);
  Observation observation;
  observation.world_size = job.world_size;
  for (Rank rank = 0; rank < job.world_size; ++rank) {
    ObservedRank& seen = observation.ranks.emplace_back();
    seen.program = own_program(job, rank);
    for (const replay::NodeTimes& times : replayed.result.recorded[rank].nodes) {
      seen.nodes.push_back({times.arrival, times.end});
    }
    seen.program.labels.resize(seen.nodes.size());
    seen.parts.resize(seen.program.parts.size());
    for (uint32_t id = 0; id < seen.program.nodes.size(); ++id) {
      const Node& node = seen.program.nodes[id];
      for (uint32_t p = node.first_part; p < node.first_part + node.part_count; ++p) {
        seen.parts[p] = {seen.nodes[id].start, ends.end(rank, p)};
      }
    }
    for (Node& node : seen.program.nodes) {  // to be found again
      node.duration = 0;
      node.gap = 0;
    }
    for (graph::Part& part : seen.program.parts) {
      part.duration = 0;
    }
  }
  return observation;
}

void expect_same_durations(const Job& truth, const Job& found, TimeNs origin) {
  for (Rank rank = 0; rank < truth.world_size; ++rank) {
    const Program& expected = truth.program(rank);
    const Program& got = found.program(rank);
    std::vector<bool> begun(expected.lanes.size(), false);
    for (uint32_t id = 0; id < expected.nodes.size(); ++id) {
      const Node& node = expected.nodes[id];
      EXPECT_EQ(got.nodes[id].duration, node.duration) << "rank " << rank << ", node " << id;
      // Time begins with the first arrival.
      const bool first = !begun[node.lane] && node.dependency_count == 0;
      EXPECT_EQ(got.nodes[id].gap, node.gap - (first ? origin : 0))
          << "rank " << rank << ", node " << id;
      begun[node.lane] = true;
    }
    for (size_t p = 0; p < expected.parts.size(); ++p) {
      EXPECT_EQ(got.parts[p].duration, expected.parts[p].duration)
          << "rank " << rank << ", part " << p;
    }
  }
}

TEST(Calibrate, DurationsOfRandomJobsComeBackExactly) {
  uint32_t jobs = 0;
  uint64_t nodes = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    reference::RandomJob random = reference::random_job(seed);
    if (random.damaged || receives_from_anyone(random.programs)) {
      continue;
    }
    without_transfers(random.programs);
    Result<Job> job = graph::instantiate(random.world_size, random.classes, random.programs);
    ASSERT_TRUE(job.ok()) << job.status().to_string();
    Result<Replayed> replayed = replay_all(std::move(job).value(), random.eager_bytes);
    if (!replayed.ok()) {
      continue;  // ranks that wait for each other in a circle
    }
    const Observation observation = observe(*replayed, random.eager_bytes);
    TimeNs origin = std::numeric_limits<TimeNs>::max();
    for (const ObservedRank& rank : observation.ranks) {
      for (const Span& node : rank.nodes) {
        origin = std::min(origin, node.start);
      }
    }
    const Result<Calibrated> calibrated = calibrate(observation, {random.eager_bytes});
    ASSERT_TRUE(calibrated.ok()) << "seed " << seed << ": " << calibrated.status().to_string();
    EXPECT_EQ(calibrated->gaps.count, 0U) << "seed " << seed;
    EXPECT_EQ(calibrated->transfers.count, 0U) << "seed " << seed;
    expect_same_durations(replayed->job, calibrated->job, origin);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    ++jobs;
    nodes += replayed->result.nodes;
  }
  EXPECT_GT(jobs, 500U);
  EXPECT_GT(nodes, 20'000U);
}

}  // namespace
}  // namespace prism::calibrate
