// SPDX-License-Identifier: Apache-2.0
/// noise_check FILE: how well the noise of one rank predicts the slowest of all, from the times
/// that noise_check.py measured. A line of FILE: rank, run, node and ns, with blanks between.
///
/// All ranks compute their nodes and then meet. Printed are the mean time until the last of them
/// has come, and what is predicted of it where only one of the ranks was measured: with its times
/// shared by all, and with noise drawn for each.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/calibrate/noise.hpp"
#include "core/graph/builder.hpp"
#include "core/replay/engine.hpp"

namespace {

using namespace prism;

constexpr uint32_t kDraws = 1000;

struct Measured {
  uint32_t ranks = 0;
  uint32_t runs = 0;
  uint32_t nodes = 0;
  std::map<std::tuple<Rank, uint32_t, uint32_t>, DurationNs> times;
};

Result<Measured> read(const char* path) {
  std::ifstream file(path);
  Measured measured;
  Rank rank = 0;
  uint32_t run = 0;
  uint32_t node = 0;
  DurationNs ns = 0;
  while (file >> rank >> run >> node >> ns) {
    measured.times[{rank, run, node}] = ns;
    measured.ranks = std::max(measured.ranks, rank + 1);
    measured.runs = std::max(measured.runs, run + 1);
    measured.nodes = std::max(measured.nodes, node + 1);
  }
  const size_t expected = size_t{measured.ranks} * measured.runs * measured.nodes;
  if (!file.eof() || measured.times.empty() || measured.times.size() != expected) {
    return config_error(std::string(path) + " is not a table of rank, run, node and ns");
  }
  return measured;
}

Result<graph::IterationKind> kind_of(const Measured& measured) {
  std::vector<Rank> all(measured.ranks);
  std::iota(all.begin(), all.end(), 0);
  graph::Builder builder(0, measured.ranks);
  const uint32_t world = builder.add_communicator({"default_pg", "", "gloo", all});
  const uint32_t cpu = builder.add_lane(graph::LaneKind::Cpu, "cpu:0");
  for (uint32_t node = 0; node < measured.nodes; ++node) {
    builder.add_compute(cpu, 0);
  }
  builder.add_collective(cpu, {graph::Kind::Barrier, world});
  graph::IterationKind kind;
  PRISM_TRY_ASSIGN(kind.job,
                   graph::instantiate(measured.ranks, {all}, {std::move(builder).finish()}));
  kind.samples.resize(measured.runs);
  for (graph::Sample& sample : kind.samples) {
    sample.times.set_of = all;
    sample.times.sets.assign(measured.ranks, graph::columns_of(kind.job.program(0), nullptr));
  }
  for (const auto& [place, ns] : measured.times) {
    const auto [rank, run, node] = place;
    kind.samples[run].times.sets[rank].durations.set(node, ns);
  }
  return kind;
}

Result<double> replayed(const graph::Job& job, const graph::Times& times) {
  PRISM_TRY_ASSIGN(const replay::ReplayResult result, replay::replay(job, times, {}));
  return static_cast<double>(result.end);
}

Result<double> as_measured(const graph::IterationKind& kind) {
  double sum = 0;
  for (const graph::Sample& sample : kind.samples) {
    PRISM_TRY_ASSIGN(const double time, replayed(kind.job, sample.times));
    sum += time;
  }
  return sum / static_cast<double>(kind.samples.size());
}

Result<double> with_noise(const graph::IterationKind& kind, const std::vector<Rank>& times_from) {
  PRISM_TRY_ASSIGN(const calibrate::Noise noise, calibrate::Noise::estimate(kind, times_from));
  const calibrate::NoiseShares& shares = noise.shares().front();
  std::printf("  of the variance %.0f %% is common, %.0f %% persistent, %.0f %% independent\n",
              100 * shares.common, 100 * shares.persistent, 100 * shares.independent);
  double sum = 0;
  for (uint32_t draw = 0; draw < kDraws; ++draw) {
    PRISM_TRY_ASSIGN(const double time, replayed(kind.job, noise.draw(1, draw)));
    sum += time;
  }
  return sum / kDraws;
}

Status run(const char* path) {
  PRISM_TRY_ASSIGN(const Measured measured, read(path));
  PRISM_TRY_ASSIGN(const graph::IterationKind kind, kind_of(measured));
  PRISM_TRY_ASSIGN(const double truth, as_measured(kind));
  std::printf("%u ranks, %u runs: the last comes after %.3f ms (measured)\n", measured.ranks,
              measured.runs, truth / 1e6);
  std::vector<Rank> own(measured.ranks);
  std::iota(own.begin(), own.end(), 0);
  PRISM_TRY_ASSIGN(const double all, with_noise(kind, own));
  std::printf("all ranks measured: drawn %+.2f %%\n", 100 * (all / truth - 1));
  for (Rank rank = 0; rank < measured.ranks; ++rank) {
    const std::vector<Rank> times_from(measured.ranks, rank);
    graph::IterationKind shared = kind;
    for (graph::Sample& sample : shared.samples) {
      sample.times.set_of = times_from;
    }
    PRISM_TRY_ASSIGN(const double without, as_measured(shared));
    PRISM_TRY_ASSIGN(const double drawn, with_noise(shared, times_from));
    std::printf("rank %u alone: shared %+.2f %%, drawn %+.2f %%\n", rank,
                100 * (without / truth - 1), 100 * (drawn / truth - 1));
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const Status status = argc == 2 ? run(argv[1]) : config_error("usage: noise_check FILE");
  if (!status.ok()) {
    std::fprintf(stderr, "noise_check: %s\n", status.to_string().c_str());
  }
  return status.exit_code();
}
