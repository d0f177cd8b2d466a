// SPDX-License-Identifier: Apache-2.0
/// Noise that is drawn against what probability theory says of the slowest of many.
#include "core/calibrate/noise.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <set>

#include "core/calibrate/noisy_prediction.hpp"
#include "core/graph/builder.hpp"
#include "core/replay/engine.hpp"

namespace prism::calibrate {
namespace {

using graph::IterationKind;
using graph::Kind;

/// One class: `nodes` compute nodes one after another, then an all-reduce of all ranks that takes
/// no time.
graph::Job job_of(uint32_t ranks, uint32_t nodes) {
  std::vector<Rank> all(ranks);
  std::iota(all.begin(), all.end(), 0);
  graph::Builder builder(0, ranks);
  const uint32_t world = builder.add_communicator({"default_pg", "", "gloo", all});
  const uint32_t cpu = builder.add_lane(graph::LaneKind::Cpu, "cpu:0");
  for (uint32_t node = 0; node < nodes; ++node) {
    builder.add_compute(cpu, 1);
  }
  graph::Collective reduce{Kind::AllReduce, world, PRISM_DTYPE_F32, PRISM_REDUCE_SUM};
  reduce.input_bytes = reduce.output_bytes = 4;
  builder.add_collective(cpu, reduce);
  auto job = graph::instantiate(ranks, {all}, {std::move(builder).finish()});
  EXPECT_TRUE(job.ok()) << job.status().to_string();
  return std::move(job).value();
}

/// A trace in which the first `measured` ranks were measured and the others share the first's
/// times; node n of rank r took time(r, run, n) ns.
struct Measured {
  IterationKind kind;
  std::vector<Rank> times_from;
};
using Time = std::function<double(Rank rank, uint32_t run, uint32_t node)>;

Measured measured_job(uint32_t ranks, uint32_t measured, uint32_t nodes, uint32_t runs,
                      const Time& time) {
  Measured result;
  result.kind.job = job_of(ranks, nodes);
  for (Rank rank = 0; rank < ranks; ++rank) {
    result.times_from.push_back(rank < measured ? rank : 0);
  }
  for (uint32_t run = 0; run < runs; ++run) {
    graph::Sample& sample = result.kind.samples.emplace_back();
    sample.repeat = run;
    sample.times.set_of = result.times_from;
    for (Rank rank = 0; rank < measured; ++rank) {
      graph::RankTimes& times =
          sample.times.sets.emplace_back(graph::columns_of(result.kind.job.program(rank), nullptr));
      for (uint32_t node = 0; node < nodes; ++node) {
        times.durations.set(node, std::llround(time(rank, run, node)));
      }
    }
  }
  return result;
}

Noise must_estimate(const Measured& m) {
  auto noise = Noise::estimate(m.kind, m.times_from);
  EXPECT_TRUE(noise.ok()) << noise.status().to_string();
  return std::move(noise).value();
}

struct Mean {
  double value = 0;
  double error = 0;  ///< standard error
};

/// Of the replayed times of draws.
Mean mean_iteration(const Measured& m, const Noise& noise, uint32_t draws) {
  double sum = 0;
  double squares = 0;
  for (uint32_t i = 0; i < draws; ++i) {
    replay::ReplayOptions options;
    options.critical_path = false;
    auto result = replay::replay(m.kind.job, noise.draw(7, i), options);
    EXPECT_TRUE(result.ok()) << result.status().to_string();
    const auto time = static_cast<double>(result->end);
    sum += time;
    squares += time * time;
  }
  const double mean = sum / draws;
  return {mean, std::sqrt(std::max(0.0, squares / draws - mean * mean) / draws)};
}

/// So many draws of values that are equally likely.
struct Draws {
  std::vector<double> values;
  double count;
};

struct Distribution {
  double mean = 0;
  double deviation = 0;
};

/// Of the maximum of all draws: its mean is the sum of x P(maximum = x). For one kind of draws that
/// is the sum of x_(i) ((i / n)^count - ((i - 1) / n)^count).
Distribution maximum_of(std::vector<Draws> all) {
  std::vector<double> places;
  for (Draws& draws : all) {
    std::sort(draws.values.begin(), draws.values.end());
    places.insert(places.end(), draws.values.begin(), draws.values.end());
  }
  std::sort(places.begin(), places.end());
  double mean = 0;
  double squares = 0;
  double below = 0;
  for (const double place : places) {
    double not_above = 1;
    for (const Draws& draws : all) {
      const auto count =
          std::upper_bound(draws.values.begin(), draws.values.end(), place) - draws.values.begin();
      not_above *= std::pow(static_cast<double>(count) / static_cast<double>(draws.values.size()),
                            draws.count);
    }
    mean += place * (not_above - below);
    squares += place * place * (not_above - below);
    below = not_above;
  }
  return {mean, std::sqrt(std::max(0.0, squares - mean * mean))};
}

/// `values` stretched around their mean, as residuals are.
std::vector<double> stretched(std::vector<double> values, double factor) {
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  for (double& value : values) {
    value = mean + factor * (value - mean);
  }
  return values;
}

/// Right-skewed, as times are.
std::vector<double> skewed_times(size_t count, uint64_t seed, double deviation = 0.1) {
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> factor(0, deviation);
  std::vector<double> values(count);
  for (double& value : values) {
    value = std::round(1e6 * factor(random));
  }
  return values;
}

TEST(Noise, TheSlowestOfKIsTheMaximumOfTheMeasuredDistribution) {
  constexpr uint32_t kRuns = 60;
  const std::vector<double> values = skewed_times(kRuns, 1);
  for (const uint32_t ranks : {8U, 64U, 512U, 8192U}) {
    const Measured m =
        measured_job(ranks, 1, 1, kRuns, [&](Rank, uint32_t run, uint32_t) { return values[run]; });
    const Noise noise = must_estimate(m);
    EXPECT_DOUBLE_EQ(noise.shares()[0].independent, 1);
    const uint32_t draws = ranks > 1000 ? 200 : 2000;
    const Mean mean = mean_iteration(m, noise, draws);
    // A new run varies by n / (n - 1) of what those vary around their mean.
    const double n = kRuns;
    const Distribution slowest =
        maximum_of({{stretched(values, std::sqrt(n / (n - 1))), ranks - 1.0}, {values, 1}});
    EXPECT_NEAR(mean.value, slowest.mean, 4 * slowest.deviation / std::sqrt(draws) + 1)
        << ranks << " ranks";
    EXPECT_GT(slowest.mean - 1e6, ranks == 8 ? 1e5 : 1.9e5);
  }
}

TEST(Noise, RanksThatWereAllMeasuredVaryAsTheyDid) {
  // Ranks with the same times in another order: no rank differs, no run is slow for all.
  constexpr uint32_t kRanks = 40;
  const std::vector<double> values = skewed_times(kRanks, 2);
  const Measured m = measured_job(
      kRanks, kRanks, 1, kRanks,
      [&](Rank rank, uint32_t run, uint32_t) { return values[(rank + run) % kRanks]; });
  const Mean mean = mean_iteration(m, must_estimate(m), 2000);
  EXPECT_NEAR(mean.value, maximum_of({{stretched(values, std::sqrt(40.0 / 39)), kRanks}}).mean,
              4 * mean.error);
}

TEST(Noise, WhatIsCommonToAllIsNotAmplified) {
  const std::vector<double> of_run = skewed_times(40, 3);
  const double level = std::accumulate(of_run.begin(), of_run.end(), 0.0) / 40;
  for (const uint32_t ranks : {8U, 1024U}) {
    const Measured m =
        measured_job(ranks, 4, 3, 40, [&](Rank, uint32_t run, uint32_t) { return of_run[run]; });
    const Noise noise = must_estimate(m);
    EXPECT_NEAR(noise.shares()[0].common, 1, 1e-6);
    const Mean mean = mean_iteration(m, noise, 400);
    EXPECT_NEAR(mean.value, 3 * level, 4 * mean.error);
    EXPECT_GT(mean.error, 3 * level * 0.1 / 20 / 2) << "runs still differ";
  }
}

TEST(Noise, WhatIsCommonToAllAtANodeIsNotAmplified) {
  // Each node of each run is slow or fast for all ranks, while runs as a whole are alike.
  constexpr uint32_t kNodes = 50;
  const std::vector<double> moments = skewed_times(size_t{40} * kNodes, 4);
  const double all = std::accumulate(moments.begin(), moments.end(), 0.0) / 40;
  const Measured m = measured_job(512, 4, kNodes, 40, [&](Rank, uint32_t run, uint32_t node) {
    return moments[run * kNodes + node];
  });
  const Noise noise = must_estimate(m);
  EXPECT_NEAR(noise.shares()[0].common, 1, 0.01);
  const Mean mean = mean_iteration(m, noise, 400);
  EXPECT_NEAR(mean.value, all, 4 * mean.error);
}

TEST(Noise, ASlowRankStaysSlowAndIsNotDrawn) {
  const std::vector<double> values = skewed_times(40, 5, 0.02);
  const Measured m = measured_job(64, 4, 1, 40, [&](Rank rank, uint32_t run, uint32_t) {
    return (rank == 2 ? 2 : 1) * values[(7 * rank + run) % 40];
  });
  const Noise noise = must_estimate(m);
  EXPECT_GT(noise.shares()[0].persistent, 0.98);
  const double level = std::accumulate(values.begin(), values.end(), 0.0) / 40;
  EXPECT_NEAR(static_cast<double>(noise.levels().of(2)->durations[0]), 2 * level, 1);
  for (uint32_t iteration = 0; iteration < 20; ++iteration) {
    const graph::Times times = noise.draw(1, iteration);
    for (Rank rank = 0; rank < 64; ++rank) {
      const auto time = static_cast<double>(times.of(rank)->durations[0]);
      EXPECT_NEAR(time, rank == 2 ? 2 * level : level, level / 4);
    }
  }
}

TEST(Noise, FewRepeatsBorrowFromNodesThatAreAlike) {
  // 5 repeats of one rank; 400 nodes of the same normal noise. Of five values alone the slowest of
  // 1,024 would be 1.2 deviations away, if that; it is 3.2.
  constexpr uint32_t kNodes = 400;
  constexpr double kDeviation = 0.05;
  std::mt19937_64 random(6);
  std::normal_distribution<double> normal(1, kDeviation);
  const Measured m = measured_job(1024, 1, kNodes, 5,
                                  [&](Rank, uint32_t, uint32_t) { return 1e6 * normal(random); });
  const Noise noise = must_estimate(m);
  double sum = 0;
  for (uint32_t iteration = 0; iteration < 4; ++iteration) {
    const graph::Times times = noise.draw(1, iteration);
    for (uint32_t node = 0; node < kNodes; ++node) {
      DurationNs slowest = 0;
      for (Rank rank = 0; rank < 1024; ++rank) {
        slowest = std::max(slowest, times.of(rank)->durations[node]);
      }
      sum += static_cast<double>(slowest) / 1e6 - 1;
    }
  }
  EXPECT_NEAR(sum / (4 * kNodes) / kDeviation, 3.2, 0.15);
}

TEST(Noise, MeansOfFewRunsDoNotAddTheirOwnError) {
  // The means of three runs differ between ranks though the ranks do not: with what is drawn, their
  // times vary as one run does.
  constexpr uint32_t kNodes = 400;
  constexpr uint32_t kRanks = 64;
  constexpr double kDeviation = 0.05;
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(1, kDeviation);
  const Measured m = measured_job(kRanks, kRanks, kNodes, 3,
                                  [&](Rank, uint32_t, uint32_t) { return 1e6 * normal(random); });
  const Noise noise = must_estimate(m);
  EXPECT_NEAR(noise.shares()[0].independent, 1, 0.05);
  double squares = 0;
  for (uint32_t iteration = 0; iteration < 10; ++iteration) {
    const graph::Times times = noise.draw(1, iteration);
    for (Rank rank = 0; rank < kRanks; ++rank) {
      for (uint32_t node = 0; node < kNodes; ++node) {
        const double off = static_cast<double>(times.of(rank)->durations[node]) / 1e6 - 1;
        squares += off * off;
      }
    }
  }
  EXPECT_NEAR(std::sqrt(squares / (10.0 * kRanks * kNodes)) / kDeviation, 1, 0.01);
}

TEST(Noise, ARankThatIsSlowInARunIsSlowAtAllItsNodes) {
  // Were nodes drawn alone, the sum of 100 of them would vary by a tenth of this.
  constexpr uint32_t kNodes = 100;
  const std::vector<double> paces = skewed_times(40, 8);
  const Measured m =
      measured_job(64, 1, kNodes, 40, [&](Rank, uint32_t run, uint32_t) { return paces[run]; });
  const Mean mean = mean_iteration(m, must_estimate(m), 400);
  const double expected =
      kNodes * maximum_of({{stretched(paces, std::sqrt(40.0 / 39)), 63}, {paces, 1}}).mean;
  EXPECT_NEAR(mean.value, expected, 4 * mean.error + expected / 1000);
}

TEST(Noise, MicroBatchesThatAreLongAreSoInAllStages) {
  constexpr uint32_t kReplicas = 64;
  constexpr uint32_t kMicroBatches = 3;
  const std::vector<double> loads = skewed_times(size_t{40} * kMicroBatches, 11);
  Measured m;
  // Two stages, of which the first replica was measured; two nodes for each micro-batch.
  std::vector<std::vector<Rank>> classes(2, std::vector<Rank>(kReplicas));
  std::vector<graph::Program> programs;
  for (const Rank stage : {0U, 1U}) {
    std::iota(classes[stage].begin(), classes[stage].end(), stage * kReplicas);
    graph::Builder builder(stage * kReplicas, 2 * kReplicas);
    const uint32_t cpu = builder.add_lane(graph::LaneKind::Cpu, "cpu:0");
    for (uint32_t node = 0; node < 2 * kMicroBatches; ++node) {
      builder.add_compute(cpu, 1);
    }
    graph::Program& program = programs.emplace_back(std::move(builder).finish());
    program.labels.resize(program.nodes.size());
    for (uint32_t node = 0; node < program.nodes.size(); ++node) {
      program.labels[node].micro_batch = static_cast<int32_t>(node / 2);
    }
  }
  auto job = graph::instantiate(2 * kReplicas, classes, std::move(programs));
  ASSERT_TRUE(job.ok()) << job.status().to_string();
  m.kind.job = std::move(job).value();
  for (Rank rank = 0; rank < 2 * kReplicas; ++rank) {
    m.times_from.push_back(rank - rank % kReplicas);
  }
  for (uint32_t run = 0; run < 40; ++run) {
    graph::Sample& sample = m.kind.samples.emplace_back();
    sample.times.set_of = m.kind.job.class_of;
    for (const double stage : {1, 2}) {
      graph::RankTimes& times =
          sample.times.sets.emplace_back(graph::columns_of(m.kind.job.program(0), nullptr));
      for (uint32_t node = 0; node < 2 * kMicroBatches; ++node) {
        times.durations.set(node, std::llround(stage * loads[run * kMicroBatches + node / 2]));
      }
    }
  }
  const Noise noise = must_estimate(m);
  const graph::Times times = noise.draw(1, 0);
  const auto load = [&](Rank rank, uint32_t node) {
    const Rank from = m.times_from[rank];
    const auto level = static_cast<double>(noise.levels().of(from)->durations[node]);
    return static_cast<double>(times.of(rank)->durations[node]) / level;
  };
  double most = 0;
  for (Rank replica = 1; replica < kReplicas; ++replica) {
    const double first = load(replica, 0) / load(replica, 2);
    most = std::max(most, first);
    EXPECT_NEAR(load(replica, 1) / load(replica, 3), first, 0.02);
    EXPECT_NEAR(load(kReplicas + replica, 0) / load(kReplicas + replica, 2), first, 0.02);
  }
  EXPECT_GT(most, 1.1) << "micro-batches differ";
}

TEST(Noise, WhatCameTogetherStaysTogetherWhereEnoughWasMeasured) {
  // Every 20th run stalls, for a third of its nodes. Spread over all runs, the same stalls would
  // make the slowest of 30 ranks more regular.
  constexpr uint32_t kNodes = 12;
  constexpr uint32_t kRuns = 60;
  std::vector<double> sums(kRuns, 0);
  const auto time = [](Rank, uint32_t run, uint32_t node) {
    return 1e6 + 1000 * ((run * 7 + node * 3) % 11) + (run % 20 == 0 && node < 4 ? 3e6 : 0);
  };
  for (uint32_t run = 0; run < kRuns; ++run) {
    for (uint32_t node = 0; node < kNodes; ++node) {
      sums[run] += time(0, run, node);
    }
  }
  constexpr uint32_t kRanks = 30;
  const Measured m = measured_job(kRanks, 1, kNodes, kRuns, time);
  const Mean mean = mean_iteration(m, must_estimate(m), 2000);
  const Distribution slowest =
      maximum_of({{stretched(sums, std::sqrt(60.0 / 59)), kRanks - 1.0}, {sums, 1}});
  EXPECT_NEAR(mean.value, slowest.mean, 4 * slowest.deviation / std::sqrt(2000) + 10);
}

TEST(Noise, DependsOnSeedAndIterationAlone) {
  const std::vector<double> values = skewed_times(40, 9);
  const Measured m = measured_job(16, 1, 3, 40, [&](Rank, uint32_t run, uint32_t node) {
    return values[(run + 11 * node) % 40];
  });
  const Noise noise = must_estimate(m);
  const graph::Times first = noise.draw(1, 0);
  EXPECT_NE(noise.draw(1, 1), first);
  EXPECT_NE(noise.draw(2, 0), first);
  EXPECT_EQ(noise.draw(1, 0), first);
  EXPECT_EQ(must_estimate(m).draw(1, 0), first);
  EXPECT_NE(first.of(3)->durations, first.of(4)->durations);
}

TEST(Noise, OneRunShowsNone) {
  const Measured m = measured_job(
      8, 2, 2, 1, [](Rank rank, uint32_t, uint32_t node) { return 1000 + 100 * rank + node; });
  const Noise noise = must_estimate(m);
  EXPECT_EQ(noise.shares()[0].independent, 0);
  EXPECT_EQ(noise.shares()[0].measured_ranks, 2U);
  EXPECT_EQ(noise.draw(1, 0).of(1)->durations[1], 1101);
  EXPECT_EQ(noise.draw(1, 0).of(7)->durations[1], 1001);
}

TEST(Noise, ARankThatSomeRunsDoNotShowHasALevelAndNoNoise) {
  Measured m = measured_job(
      4, 2, 1, 3, [](Rank rank, uint32_t run, uint32_t) { return 1000 + 100 * rank + 10 * run; });
  m.kind.samples[1].times.set_of[1] = graph::kNone;
  const Noise noise = must_estimate(m);
  EXPECT_EQ(noise.shares()[0].measured_ranks, 1U);
  EXPECT_EQ(noise.shares()[0].ranks, (std::vector<Rank>{0, 1, 2, 3}));
  EXPECT_EQ(noise.levels().of(1)->durations[0], 1110);
  EXPECT_EQ(noise.levels().of(0)->durations[0], 1010);
}

TEST(Noise, WithoutClassesRanksOfEqualStructureAreAGroup) {
  // As share_times leaves it: each rank a class of its own, of which two were measured.
  constexpr uint32_t kRanks = 6;
  const std::vector<double> values = skewed_times(40, 12);
  std::vector<std::vector<Rank>> classes;
  std::vector<graph::Program> programs;
  for (Rank rank = 0; rank < kRanks; ++rank) {
    graph::Builder builder(rank, kRanks);
    builder.add_compute(builder.add_lane(graph::LaneKind::Cpu, "cpu:0"), 1);
    classes.push_back({rank});
    programs.push_back(std::move(builder).finish());
  }
  Measured m;
  auto job = graph::instantiate(kRanks, classes, std::move(programs));
  ASSERT_TRUE(job.ok()) << job.status().to_string();
  m.kind.job = std::move(job).value();
  m.times_from = {0, 1, 0, 1, 0, 1};
  for (uint32_t run = 0; run < 40; ++run) {
    graph::Sample& sample = m.kind.samples.emplace_back();
    sample.times.set_of = m.times_from;
    sample.times.sets.assign(2, graph::columns_of(m.kind.job.program(0), nullptr));
    for (const Rank rank : {0U, 1U}) {
      sample.times.sets[rank].durations.set(0, std::llround(values[(run + 13 * rank) % 40]));
    }
  }
  const Noise noise = must_estimate(m);
  ASSERT_EQ(noise.shares().size(), 1U);
  EXPECT_EQ(noise.shares()[0].measured_ranks, 2U);
  const graph::Times times = noise.draw(1, 0);
  std::set<DurationNs> different;
  for (Rank rank = 0; rank < kRanks; ++rank) {
    different.insert(times.of(rank)->durations[0]);
  }
  EXPECT_GE(different.size(), kRanks - 1) << "each is drawn for itself";
}

TEST(Noise, RefusesWhatWasNotMeasured) {
  const auto time = [](Rank, uint32_t, uint32_t) { return 1000.0; };
  Measured m = measured_job(4, 1, 1, 2, time);
  m.times_from[3] = 2;
  EXPECT_FALSE(Noise::estimate(m.kind, m.times_from).ok());
  m.times_from = {graph::kNone, graph::kNone, graph::kNone, graph::kNone};
  EXPECT_FALSE(Noise::estimate(m.kind, m.times_from).ok());
  EXPECT_FALSE(Noise::estimate(m.kind, {}).ok());
  m = measured_job(4, 1, 1, 0, time);
  EXPECT_FALSE(Noise::estimate(m.kind, m.times_from).ok());
}

TEST(NoisyPrediction, SharedNoiseIsTooFastAndIndependentNoiseIsNot) {
  const std::vector<double> values = skewed_times(40, 10);
  const Measured m =
      measured_job(256, 1, 1, 40, [&](Rank, uint32_t run, uint32_t) { return values[run]; });
  auto prediction = predict_with_noise(m.kind, m.times_from, {.draws = 100});
  ASSERT_TRUE(prediction.ok()) << prediction.status().to_string();
  std::vector<DurationNs> as_measured;
  as_measured.reserve(values.size());
  for (const double value : values) {
    as_measured.push_back(std::llround(value));
  }
  EXPECT_EQ(prediction->headline.median, spread_of(as_measured).median);
  EXPECT_NEAR(static_cast<double>(prediction->with_noise.median), maximum_of({{values, 256}}).mean,
              1e4);
  EXPECT_GT(prediction->with_noise.low, prediction->headline.median);
}

}  // namespace
}  // namespace prism::calibrate
