// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/replica_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "core/graph/replicas.hpp"
#include "core/replay/engine.hpp"

namespace prism::calibrate {
namespace {

using graph::Kind;
using graph::Labels;
using graph::Program;
using graph::RankTimes;
using graph::Sample;
using graph::Times;

constexpr double kLeastFactor = 0.02;
constexpr double kLeastFactorOfOneRun = 0.05;
constexpr double kMostSharingError = 0.02;
/// Replays of the sharing check: runs and replicas beyond these are sampled evenly.
constexpr size_t kMostRuns = 8;
constexpr size_t kMostReplicas = 4;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {
  if (values.size() < 2) {
    return 0;
  }
  const double middle = mean(values);
  double sum = 0;
  for (const double value : values) {
    sum += (value - middle) * (value - middle);
  }
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

/// Sums for a weighted correlation around 0.
struct Correlation {
  double xx = 0;
  double yy = 0;
  double xy = 0;
  void add(double x, double y) {
    xx += x * x;
    yy += y * y;
    xy += x * y;
  }
  double value() const { return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0; }
};

class Check {
 public:
  explicit Check(const graph::IterationKind& kind) : kind_(kind), job_(kind.job) {}

  Result<ReplicaCheck> run() {
    result_.runs = static_cast<uint32_t>(kind_.samples.size());
    const graph::Replicas replicas = graph::replicas_of(job_);
    for (const std::vector<Rank>& group : replicas.groups) {
      std::vector<Rank> measured;
      std::copy_if(group.begin(), group.end(), std::back_inserter(measured),
                   [this](Rank rank) { return is_measured(rank); });
      if (measured.size() > 1) {
        ++result_.groups;
        result_.compared += static_cast<uint32_t>(measured.size());
        find_outliers(measured);
        compare_nodes(measured);
        groups_.push_back(std::move(measured));
      }
    }
    std::sort(result_.outliers.begin(), result_.outliers.end(),
              [](const Outlier& a, const Outlier& b) {
                return std::abs(std::log(a.factor)) > std::abs(std::log(b.factor));
              });
    result_.same_run_spread = weight_ > 0 ? std::sqrt(squares_ / weight_) : 0;
    result_.work_correlation = work_.value();
    if (result_.comparable()) {
      PRISM_TRY(try_sharing());
    }
    return result_;
  }

 private:
  bool is_measured(Rank rank) const {
    return std::all_of(kind_.samples.begin(), kind_.samples.end(),
                       [rank](const Sample& sample) { return sample.times.of(rank) != nullptr; });
  }

  // ---- Whole iterations ----

  double compute_time(Rank rank, const Sample& sample) const {
    const Program& program = job_.program(rank);
    const graph::TimesOfRank times(job_, sample.times, rank);
    DurationNs sum = 0;
    for (uint32_t id = 0; id < program.nodes.size(); ++id) {
      sum += program.nodes[id].kind == Kind::Compute ? times.duration(id) : 0;
    }
    return std::max(1.0, static_cast<double>(sum));
  }

  void find_outliers(const std::vector<Rank>& ranks) {
    std::vector<std::vector<double>> ratios(ranks.size());
    for (const Sample& sample : kind_.samples) {
      std::vector<double> sums;
      sums.reserve(ranks.size());
      for (const Rank rank : ranks) {
        sums.push_back(compute_time(rank, sample));
      }
      for (size_t r = 0; r < ranks.size(); ++r) {
        std::vector<double> others = sums;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(r));
        ratios[r].push_back(sums[r] / median(std::move(others)));
      }
    }
    std::vector<double> spreads;
    spreads.reserve(ranks.size());
    for (const std::vector<double>& of_rank : ratios) {
      spreads.push_back(deviation(of_rank));
    }
    const bool repeated = kind_.samples.size() > 1;
    const double spread = repeated ? median(spreads) : -1;
    const double least = repeated ? std::max(kLeastFactor, 2 * spread) : kLeastFactorOfOneRun;
    for (size_t r = 0; r < ranks.size(); ++r) {
      const double factor = mean(ratios[r]);
      // Of two, one is as far above as the other is below.
      if (std::abs(factor - 1) > least && (ranks.size() > 2 || factor > 1)) {
        result_.outliers.push_back(
            {ranks[r], factor, spread, static_cast<uint32_t>(ranks.size() - 1)});
      }
    }
  }

  // ---- Nodes of one run ----

  using MicroBatch = std::pair<int32_t, int32_t>;  ///< number, chunk
  struct Work {
    double forward = 0;
    double backward = 0;
    bool has_forward = false;
    bool has_backward = false;
  };

  void compare_nodes(const std::vector<Rank>& ranks) {
    const Program& program = job_.program(ranks.front());
    std::vector<double> persistent(ranks.size(), 0);
    std::vector<double> logs(ranks.size());
    double weights = 0;
    // What is persistent of a rank first, over all nodes and runs.
    for_each_node(ranks, logs, [&](uint32_t, const Sample&, double weight) {
      for (size_t r = 0; r < ranks.size(); ++r) {
        persistent[r] += weight * logs[r];
      }
      weights += weight;
    });
    for (double& of_rank : persistent) {
      of_rank = weights > 0 ? of_rank / weights : 0;
    }
    std::vector<std::map<MicroBatch, Work>> work(ranks.size());
    const Sample* at = nullptr;
    for_each_node(ranks, logs, [&](uint32_t node, const Sample& sample, double weight) {
      if (at != &sample) {
        correlate(work);
        at = &sample;
      }
      const Labels labels = node < program.labels.size() ? program.labels[node] : Labels{};
      for (size_t r = 0; r < ranks.size(); ++r) {
        const double off = logs[r] - persistent[r];
        squares_ += weight * off * off;
        // The mean of the replicas was taken out: it costs one of them.
        weight_ += weight * (1 - 1 / static_cast<double>(ranks.size()));
        if (labels.micro_batch >= 0 && labels.phase != graph::kNone) {
          note(work[r][{labels.micro_batch, labels.chunk}], program.texts[labels.phase],
               weight * off);
        }
      }
    });
    correlate(work);
  }

  /// Calls `visit(node, sample, weight)` with the deviations of the logarithm from the replicas'
  /// mean in `logs`.
  template <typename Visit>
  void for_each_node(const std::vector<Rank>& ranks, std::vector<double>& logs, Visit visit) {
    const Program& program = job_.program(ranks.front());
    for (const Sample& sample : kind_.samples) {
      for (uint32_t id = 0; id < program.nodes.size(); ++id) {
        if (program.nodes[id].kind != Kind::Compute) {
          continue;
        }
        double sum = 0;
        double middle = 0;
        for (size_t r = 0; r < ranks.size(); ++r) {
          const DurationNs duration = graph::TimesOfRank(job_, sample.times, ranks[r]).duration(id);
          sum += static_cast<double>(duration);
          logs[r] = std::log(std::max(1.0, static_cast<double>(duration)));
          middle += logs[r];
        }
        for (double& of_rank : logs) {
          of_rank -= middle / static_cast<double>(ranks.size());
        }
        visit(id, sample, sum / static_cast<double>(ranks.size()));
      }
    }
  }

  static void note(Work& work, const std::string& phase, double off) {
    if (phase == "forward") {
      work.forward += off;
      work.has_forward = true;
    } else if (phase == "backward") {
      work.backward += off;
      work.has_backward = true;
    }
  }

  void correlate(std::vector<std::map<MicroBatch, Work>>& work) {
    for (std::map<MicroBatch, Work>& of_rank : work) {
      for (const auto& [micro_batch, w] : of_rank) {
        if (w.has_forward && w.has_backward) {
          work_.add(w.forward, w.backward);
        }
      }
      of_rank.clear();
    }
  }

  // ---- One replica for all ----

  Result<DurationNs> iteration_time(const Times& times) const {
    replay::ReplayOptions options;
    options.critical_path = false;
    PRISM_TRY_ASSIGN(const replay::ReplayResult result, replay::replay(job_, times, options));
    return std::max<DurationNs>(1, result.end);
  }

  void share(const Times& own, size_t replica, Times& shared) const {
    for (const std::vector<Rank>& group : groups_) {
      for (const Rank rank : group) {
        shared.set_of[rank] = own.set_of[group[replica % group.size()]];
      }
    }
  }

  Status try_sharing() {
    size_t replicas = 0;
    for (const std::vector<Rank>& group : groups_) {
      replicas = std::max(replicas, group.size());
    }
    const size_t runs = kind_.samples.size();
    const size_t tried_runs = std::min(runs, kMostRuns);
    const size_t tried_replicas = std::min(replicas, kMostReplicas);
    std::vector<double> errors;
    for (size_t s = 0; s < tried_runs; ++s) {
      const Times& own = kind_.samples[s * runs / tried_runs].times;
      PRISM_TRY_ASSIGN(const DurationNs measured, iteration_time(own));
      Times shared = own;
      for (size_t r = 0; r < tried_replicas; ++r) {
        share(own, r * replicas / tried_replicas, shared);
        PRISM_TRY_ASSIGN(const DurationNs with_one, iteration_time(shared));
        errors.push_back(static_cast<double>(with_one - measured) / static_cast<double>(measured));
        if (std::abs(errors.back()) > std::abs(result_.sharing_worst)) {
          result_.sharing_worst = errors.back();
        }
      }
    }
    result_.sharing_error = median(std::move(errors));
    return {};
  }

  const graph::IterationKind& kind_;
  const graph::Job& job_;
  std::vector<std::vector<Rank>> groups_;
  double squares_ = 0;
  double weight_ = 0;
  Correlation work_;
  ReplicaCheck result_;
};

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

}  // namespace

bool ReplicaCheck::holds() const {
  return outliers.empty() && std::abs(sharing_error) <= kMostSharingError;
}

std::vector<std::string> ReplicaCheck::in_words() const {
  std::vector<std::string> text;
  if (!comparable()) {
    return {"no two ranks of equal structure were measured: nothing can be said about replicas"};
  }
  constexpr size_t kMostShown = 8;
  for (size_t i = 0; i < std::min(outliers.size(), kMostShown); ++i) {
    const Outlier& o = outliers[i];
    char factor[32];
    std::snprintf(factor, sizeof factor, "%.3f", o.factor);
    text.push_back(
        "rank " + std::to_string(o.rank) + " computes " + factor + " times as long as " +
        (o.replicas == 1 ? "its replica"
                         : "the median of its " + std::to_string(o.replicas) + " replicas") +
        (o.run_spread < 0 ? " (one run: its spread is not known)"
                          : " (from run to run that moves by " + percent(o.run_spread) + ")"));
  }
  if (outliers.size() > kMostShown) {
    text.push_back("and " + std::to_string(outliers.size() - kMostShown) + " more ranks");
  }
  const std::string apart =
      "in one run the same work of replicas lies " + percent(same_run_spread) + " apart";
  constexpr double kTogether = 0.5;
  if (holds()) {
    text.push_back("replicas agree: " + apart +
                   ", and with the times of one for all the "
                   "iteration time changes by " +
                   percent(sharing_error) + " (at most " + percent(sharing_worst) + ")");
    return text;
  }
  text.push_back(apart + (work_correlation > kTogether
                              ? ", forward and backward of a micro-batch together (correlation " +
                                    std::to_string(work_correlation).substr(0, 4) +
                                    "): micro-batches differ in length"
                              : ""));
  text.push_back("with the times of one replica for all the iteration time would change by " +
                 percent(sharing_error) + " (at most " + percent(sharing_worst) + ")");
  return text;
}

Result<ReplicaCheck> check_replicas(const graph::Trace& trace) {
  return Check(trace.kinds.front()).run();
}

}  // namespace prism::calibrate
