// SPDX-License-Identifier: Apache-2.0
/// noise_check FILE: how well the noise of one rank predicts the slowest of all, from the times
/// that noise_check.py measured. A line of FILE: rank, run, node and ns, with blanks between.
///
/// All ranks compute their nodes and then meet. Printed are the mean time until the last of them
/// has come, and what is predicted of it where only one of the ranks was measured: with its times
/// shared by all, and with noise drawn for each, whose interval should hold the measured.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/statistics.hpp"
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

Result<DurationNs> replayed(const graph::Job& job, const graph::Times& times) {
  PRISM_TRY_ASSIGN(const replay::ReplayResult result, replay::replay(job, times, {}));
  return result.end;
}

double mean(const std::vector<DurationNs>& times) {
  return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}

Result<std::vector<DurationNs>> as_measured(const graph::IterationKind& kind) {
  std::vector<DurationNs> times;
  times.reserve(kind.samples.size());
  for (const graph::Sample& sample : kind.samples) {
    PRISM_TRY_ASSIGN(const DurationNs time, replayed(kind.job, sample.times));
    times.push_back(time);
  }
  return times;
}

/// Prints what is drawn, beside `truth`: the iterations as they were measured.
Status draw(const graph::IterationKind& kind, const std::vector<Rank>& times_from,
            const std::vector<DurationNs>& truth) {
  PRISM_TRY_ASSIGN(const calibrate::Noise noise, calibrate::Noise::estimate(kind, times_from));
  const calibrate::NoiseShares& shares = noise.shares().front();
  std::vector<DurationNs> drawn;
  drawn.reserve(kDraws);
  for (uint32_t i = 0; i < kDraws; ++i) {
    PRISM_TRY_ASSIGN(const DurationNs time, replayed(kind.job, noise.draw(1, i)));
    drawn.push_back(time);
  }
  const Spread spread = spread_of(drawn);
  const auto inside = std::count_if(truth.begin(), truth.end(), [&](DurationNs time) {
    return spread.low <= time && time <= spread.high;
  });
  std::printf(
      "drawn %+.2f %%, 95 %% from %.3f to %.3f ms, in which %.0f %% of the measured lie "
      "(%.0f %% common, %.0f %% persistent, %.0f %% independent)\n",
      100 * (mean(drawn) / mean(truth) - 1), static_cast<double>(spread.low) / 1e6,
      static_cast<double>(spread.high) / 1e6,
      100 * static_cast<double>(inside) / static_cast<double>(truth.size()), 100 * shares.common,
      100 * shares.persistent, 100 * shares.independent);
  return {};
}

Status run(const char* path) {
  PRISM_TRY_ASSIGN(const Measured measured, read(path));
  PRISM_TRY_ASSIGN(const graph::IterationKind kind, kind_of(measured));
  PRISM_TRY_ASSIGN(const std::vector<DurationNs> truth, as_measured(kind));
  std::printf("%u ranks, %u runs: the last comes after %.3f ms (measured)\n", measured.ranks,
              measured.runs, mean(truth) / 1e6);
  std::vector<Rank> own(measured.ranks);
  std::iota(own.begin(), own.end(), 0);
  std::printf("all ranks measured: ");
  PRISM_TRY(draw(kind, own, truth));
  for (Rank rank = 0; rank < measured.ranks; ++rank) {
    const std::vector<Rank> times_from(measured.ranks, rank);
    graph::IterationKind shared = kind;
    for (graph::Sample& sample : shared.samples) {
      sample.times.set_of = times_from;
    }
    PRISM_TRY_ASSIGN(const std::vector<DurationNs> without, as_measured(shared));
    std::printf("rank %u alone: shared %+.2f %%, ", rank, 100 * (mean(without) / mean(truth) - 1));
    PRISM_TRY(draw(shared, times_from, truth));
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
