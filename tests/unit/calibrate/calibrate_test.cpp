// SPDX-License-Identifier: Apache-2.0
/// What was replayed is observed, and calibrated again: the durations must come back.
#include "core/calibrate/calibrate.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <optional>
#include <random>

#include "core/calibrate/structure_order.hpp"
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
    if (part.kind == Kind::Send && part.bytes > 0 && part.bytes <= eager_bytes_ &&
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

/// Of a batch of which several parts end at once, how long each took is not seen.
bool several_end_at_once(const ObservedRank& observed, const Node& node) {
  const auto first = observed.parts.begin() + node.first_part;
  return std::count_if(first, first + node.part_count, [&](const Span& part) {
           const auto last =
               std::max_element(first, first + node.part_count,
                                [](const Span& a, const Span& b) { return a.end < b.end; });
           return part.end == last->end;
         }) > 1;
}

/// `origin`: when the first node of the rank's clock arrived; time begins there.
void expect_same_times(const Program& expected, const graph::RankTimes& found, TimeNs origin,
                       const ObservedRank& observed) {
  const Rank rank = observed.program.rank;
  std::vector<bool> begun(expected.lanes.size(), false);
  for (uint32_t id = 0; id < expected.nodes.size(); ++id) {
    const Node& node = expected.nodes[id];
    EXPECT_EQ(found.durations[id], node.duration) << "rank " << rank << ", node " << id;
    const bool first = !begun[node.lane] && node.dependency_count == 0;
    EXPECT_EQ(found.gaps[id], node.gap - (first ? origin : 0))
        << "rank " << rank << ", node " << id;
    begun[node.lane] = true;
    for (uint32_t p = node.first_part; p < node.first_part + node.part_count; ++p) {
      if (!several_end_at_once(observed, node)) {
        EXPECT_EQ(found.parts[p], expected.parts[p].duration) << "rank " << rank << ", part " << p;
      }
    }
  }
}

TimeNs first_start(const Observation& observation) {
  TimeNs origin = std::numeric_limits<TimeNs>::max();
  for (const ObservedRank& rank : observation.ranks) {
    for (const Span& node : rank.nodes) {
      origin = std::min(origin, node.start);
    }
  }
  return origin;
}

/// A random job that can be replayed, or nothing.
std::optional<Replayed> random_replay(uint64_t seed, uint64_t& eager_bytes) {
  reference::RandomJob random = reference::random_job(seed);
  if (random.damaged || receives_from_anyone(random.programs)) {
    return std::nullopt;
  }
  eager_bytes = random.eager_bytes;
  without_transfers(random.programs);
  Result<Job> job = graph::instantiate(random.world_size, random.classes, random.programs);
  EXPECT_TRUE(job.ok()) << job.status().to_string();
  Result<Replayed> replayed = replay_all(std::move(job).value(), random.eager_bytes);
  if (!replayed.ok()) {
    return std::nullopt;  // ranks that wait for each other in a circle
  }
  return std::move(replayed).value();
}

TEST(Calibrate, DurationsOfRandomJobsComeBackExactly) {
  uint32_t jobs = 0;
  uint64_t nodes = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    uint64_t eager_bytes = 0;
    const std::optional<Replayed> replayed = random_replay(seed, eager_bytes);
    if (!replayed) {
      continue;
    }
    const Observation observation = observe(*replayed, eager_bytes);
    const Result<Calibrated> calibrated =
        calibrate(observation, {eager_bytes, /*instant_peers=*/true, /*whole=*/true});
    ASSERT_TRUE(calibrated.ok()) << "seed " << seed << ": " << calibrated.status().to_string();
    const SampleReport& report = calibrated->reports.front().front();
    EXPECT_EQ(report.gaps.count, 0U) << "seed " << seed;
    EXPECT_EQ(report.transfers.count, 0U) << "seed " << seed;
    const graph::Times& times = calibrated->trace.kinds.front().samples.front().times;
    for (Rank rank = 0; rank < replayed->job.world_size; ++rank) {
      expect_same_times(replayed->job.program(rank), *times.of(rank), first_start(observation),
                        observation.ranks[rank]);
    }
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    ++jobs;
    nodes += replayed->result.nodes;
  }
  EXPECT_GT(jobs, 500U);
  EXPECT_GT(nodes, 20'000U);
}

/// What a slice does when all other ranks are instant: their part in a collective is left out, and
/// what has no partner or root left takes its own time. Nothing where a batch is half outside.
std::optional<Replayed> replay_slice(const Job& job, const std::vector<Rank>& slice,
                                     uint64_t eager_bytes) {
  const auto place = [&](Rank rank) {
    const auto found = std::find(slice.begin(), slice.end(), rank);
    return found == slice.end() ? graph::kNone : static_cast<uint32_t>(found - slice.begin());
  };
  std::vector<Program> programs;
  std::vector<std::vector<Rank>> classes;
  for (Rank index = 0; index < slice.size(); ++index) {
    Program program = own_program(job, slice[index]);
    program.rank = index;
    program.world_size = static_cast<uint32_t>(slice.size());
    const std::vector<graph::Communicator> whole = program.communicators;
    for (graph::Communicator& communicator : program.communicators) {
      std::vector<Rank> members;
      for (const Rank rank : communicator.ranks) {
        if (place(rank) != graph::kNone) {
          members.push_back(place(rank));
        }
      }
      communicator.ranks = std::move(members);
      communicator.description +=
          "," + std::to_string(&communicator - program.communicators.data());
    }
    for (Node& node : program.nodes) {
      bool outside = false;
      bool inside = false;
      for (uint32_t p = node.first_part; p < node.first_part + node.part_count; ++p) {
        graph::Part& part = program.parts[p];
        const Rank peer = whole[part.communicator].ranks[static_cast<size_t>(part.peer)];
        (place(peer) == graph::kNone ? outside : inside) = true;
        if (place(peer) != graph::kNone) {
          part.peer = static_cast<int32_t>(
              graph::position_of(program.communicators[part.communicator], place(peer)));
        }
      }
      if (outside && inside) {
        return std::nullopt;
      }
      if (graph::has_root(node.kind)) {
        const Rank root = whole[node.communicator].ranks[static_cast<size_t>(node.root)];
        outside = place(root) == graph::kNone;
        node.root = outside ? -1
                            : static_cast<int32_t>(graph::position_of(
                                  program.communicators[node.communicator], place(root)));
      }
      if (outside) {
        return std::nullopt;
      }
    }
    classes.push_back({index});
    programs.push_back(std::move(program));
  }
  Result<Job> part =
      graph::instantiate(static_cast<uint32_t>(slice.size()), classes, std::move(programs));
  if (!part.ok()) {
    return std::nullopt;
  }
  Result<Replayed> replayed = replay_all(std::move(part).value(), eager_bytes);
  return replayed.ok() ? std::optional(std::move(replayed).value()) : std::nullopt;
}

/// The ranks are cut into random slices, each runs beside instant peers on a clock that is off by
/// a random time: all durations come back.
TEST(Calibrate, RandomSlicesBesideInstantPeersGiveTheGraphBack) {
  uint32_t jobs = 0;
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    uint64_t eager_bytes = 0;
    const std::optional<Replayed> replayed = random_replay(seed, eager_bytes);
    if (!replayed) {
      continue;
    }
    const Job& job = replayed->job;
    std::mt19937_64 random(seed);
    std::vector<std::vector<Rank>> slices(1 + random() % 4);
    for (Rank rank = 0; rank < job.world_size; ++rank) {
      slices[random() % slices.size()].push_back(rank);
    }
    std::vector<Observation> observed;
    std::vector<TimeNs> origins;
    for (const std::vector<Rank>& slice : slices) {
      const std::optional<Replayed> part =
          slice.empty() ? std::nullopt : replay_slice(job, slice, eager_bytes);
      if (!part) {
        break;
      }
      Observation seen = observe(*part, eager_bytes);
      origins.push_back(first_start(seen));
      const auto shift = static_cast<TimeNs>(random() % 1'000'000'000'000);
      for (ObservedRank& rank : seen.ranks) {
        const Rank number = slice[rank.program.rank];
        rank.program = own_program(job, number);
        rank.program.labels.resize(rank.nodes.size());
        rank.run = static_cast<uint32_t>(observed.size());
        for (std::vector<Span>* spans : {&rank.nodes, &rank.parts}) {
          for (Span& span : *spans) {
            span = {span.start + shift, span.end + shift};
          }
        }
      }
      seen.world_size = job.world_size;
      observed.push_back(std::move(seen));
    }
    if (observed.size() != slices.size()) {
      continue;
    }
    const Result<Observation> united = unite(std::move(observed));
    ASSERT_TRUE(united.ok()) << united.status().to_string();
    const Result<Calibrated> calibrated =
        calibrate(job, {*united}, {eager_bytes, /*instant_peers=*/true, /*whole=*/true});
    ASSERT_TRUE(calibrated.ok()) << "seed " << seed << ": " << calibrated.status().to_string();
    const graph::Times& times = calibrated->trace.kinds.front().samples.front().times;
    const bool one_iteration =
        std::all_of(job.classes.begin(), job.classes.end(),
                    [](const graph::Class& c) { return c.program.iterations <= 1; });
    std::optional<Observation> one;
    if (one_iteration) {
      one = Iterations(*united).cut(0);
    }
    for (size_t s = 0; s < slices.size(); ++s) {
      for (const Rank rank : slices[s]) {
        expect_same_times(one_iteration ? in_structure_order(job.program(rank)) : job.program(rank),
                          *times.of(rank), origins[s],
                          one_iteration ? one->ranks[rank] : united->ranks[rank]);
      }
    }
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    ++jobs;
  }
  EXPECT_GT(jobs, 100U);
}

/// All ranks run together, but slices have clocks of their own: where all members of a
/// communication take equally long, whoever came last shows how long.
TEST(Calibrate, OneRunOnManyClocksGivesTheGraphBackWhereTransfersAreEqual) {
  uint32_t jobs = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    reference::RandomJob random = reference::random_job(seed);
    if (random.damaged || receives_from_anyone(random.programs)) {
      continue;
    }
    without_transfers(random.programs);
    for (Program& program : random.programs) {
      for (Node& node : program.nodes) {
        node.duration = graph::is_collective(node.kind)
                            ? 100 + static_cast<DurationNs>(7 * node.sequence)
                            : node.duration;
        // When ranks on different clocks began is not known.
        node.gap = 0;
      }
      for (graph::Part& part : program.parts) {
        part.duration = 50 + part.tag % 13;
      }
    }
    Result<Job> job = graph::instantiate(random.world_size, random.classes, random.programs);
    ASSERT_TRUE(job.ok()) << job.status().to_string();
    // No eager sends: how long one takes, its receiver does not show.
    const Result<Replayed> replayed = replay_all(std::move(job).value(), 0);
    if (!replayed.ok()) {
      continue;
    }
    Observation observation = observe(*replayed, 0);
    std::mt19937_64 offsets(seed);
    std::vector<TimeNs> shift(1 + seed % 5);
    for (TimeNs& of_clock : shift) {
      of_clock = static_cast<TimeNs>(offsets() % 1'000'000'000'000);
    }
    for (ObservedRank& rank : observation.ranks) {
      rank.clock = static_cast<uint32_t>(offsets() % shift.size());
      for (std::vector<Span>* spans : {&rank.nodes, &rank.parts}) {
        for (Span& span : *spans) {
          span = {span.start + shift[rank.clock], span.end + shift[rank.clock]};
        }
      }
    }
    const Result<Calibrated> calibrated =
        calibrate(observation, {0, /*instant_peers=*/false, /*whole=*/true});
    ASSERT_TRUE(calibrated.ok()) << "seed " << seed << ": " << calibrated.status().to_string();
    const graph::IterationKind& kind = calibrated->trace.kinds.front();
    for (Rank rank = 0; rank < replayed->job.world_size; ++rank) {
      const Program& expected = replayed->job.program(rank);
      const graph::RankTimes& found = *kind.samples.front().times.of(rank);
      for (uint32_t id = 0; id < expected.nodes.size(); ++id) {
        if (!graph::has_root(expected.nodes[id].kind)) {
          EXPECT_EQ(found.durations[id], expected.nodes[id].duration)
              << "seed " << seed << ", rank " << rank << ", node " << id;
        }
      }
      for (const Node& node : expected.nodes) {
        for (uint32_t p = node.first_part; p < node.first_part + node.part_count; ++p) {
          if (node.part_count == 1) {  // the end of a batch may be that of another part
            EXPECT_EQ(found.parts[p], expected.parts[p].duration)
                << "seed " << seed << ", rank " << rank << ", part " << p;
          }
        }
      }
    }
    ASSERT_FALSE(HasFailure());
    ++jobs;
  }
  EXPECT_GT(jobs, 500U);
}

}  // namespace
}  // namespace prism::calibrate
