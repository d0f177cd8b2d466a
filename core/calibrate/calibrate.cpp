// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/calibrate.hpp"

#include <algorithm>
#include <compare>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/calibrate/structure_order.hpp"
#include "core/graph/check.hpp"
#include "core/graph/difference.hpp"
#include "core/graph/messages.hpp"

namespace prism::calibrate {
namespace {

using graph::Column;
using graph::Kind;
using graph::Node;
using graph::Part;
using graph::Program;
using graph::RankTimes;
using graph::Times;

constexpr TimeNs kNever = std::numeric_limits<TimeNs>::max();

class Calibration {
 public:
  Calibration(const graph::Job& job, const graph::Messages& messages,
              const Observation& observation, const CalibrateOptions& options, SampleReport& report)
      : job_(job),
        messages_(messages),
        observation_(observation),
        options_(options),
        report_(report),
        observed_(job.world_size, nullptr) {}

  Times run() {
    find_origins();
    find_collectives();
    Times times;
    times.set_of.assign(job_.world_size, graph::kNone);
    for (const ObservedRank& observed : observation_.ranks) {
      const Program& own = observed.program;
      times.set_of[own.rank] = static_cast<uint32_t>(times.sets.size());
      RankTimes& set = times.sets.emplace_back();
      set = {Column(own.nodes.size()), Column(own.nodes.size()), Column(own.parts.size())};
      set_gaps(observed, set);
      set_durations(observed, set);
    }
    return times;
  }

 private:
  struct Member {
    Rank rank;
    uint32_t node;
  };
  /// A collective: on each clock its last arrival and its first end.
  struct Meeting {
    struct Clock {
      TimeNs last_arrival = std::numeric_limits<TimeNs>::min();
      TimeNs first_end = kNever;
    };
    std::map<uint32_t, Clock> clocks;
    size_t members = 0;
    std::optional<Member> root;
  };

  const ObservedRank& observed(Rank rank) const { return *observed_[rank]; }
  bool is_observed(Rank rank) const { return observed_[rank] != nullptr; }
  const Span& span(Rank rank, uint32_t node) const { return observed(rank).nodes[node]; }
  bool same_clock(Rank a, Rank b) const { return observed(a).clock == observed(b).clock; }

  static DurationNs at_least_0(DurationNs value, Corrections& corrections) {
    if (value < 0) {
      ++corrections.count;
      corrections.largest = std::max(corrections.largest, -value);
      return 0;
    }
    return value;
  }

  // ---- Gaps ----

  void find_origins() {
    std::unordered_map<uint32_t, TimeNs> ends;
    for (const ObservedRank& rank : observation_.ranks) {
      observed_[rank.program.rank] = &rank;
      for (const Span& node : rank.nodes) {
        TimeNs& origin = origins_.try_emplace(rank.clock, kNever).first->second;
        origin = std::min(origin, node.start);
        TimeNs& end = ends.try_emplace(rank.clock, node.end).first->second;
        end = std::max(end, node.end);
        report_.observed = std::max(report_.observed, end - origin);
      }
    }
  }

  void set_gaps(const ObservedRank& rank, RankTimes& set) {
    const Program& own = rank.program;
    std::vector<TimeNs> lane_end(own.lanes.size(), kNever);
    for (uint32_t id = 0; id < own.nodes.size(); ++id) {
      const Node& node = own.nodes[id];
      TimeNs ready = lane_end[node.lane];
      for (uint32_t d = 0; d < node.dependency_count; ++d) {
        const TimeNs end = rank.nodes[own.dependencies[node.first_dependency + d]].end;
        ready = ready == kNever ? end : std::max(ready, end);
      }
      if (ready == kNever) {
        ready = origins_.at(rank.clock);
      }
      set.gaps.set(id, at_least_0(rank.nodes[id].start - ready, report_.gaps));
      lane_end[node.lane] = rank.nodes[id].end;
    }
  }

  // ---- Transfers ----

  /// A transfer with ranks that were not observed: what looks like one may be waiting for them.
  DurationNs with_unseen(DurationNs seen, DurationNs of_graph) {
    if (options_.instant_peers) {
      return seen;
    }
    ++report_.unseen;
    return of_graph > 0 ? std::min(seen, of_graph) : seen;
  }

  struct Key {
    uint32_t run;
    uint32_t communicator;
    uint64_t sequence;
    auto operator<=>(const Key&) const = default;
  };
  Key key(const ObservedRank& observed, const Node& node) const {
    return {observed.run, job_.communicator(observed.program.rank, node.communicator),
            node.sequence};
  }

  void find_collectives() {
    for (const ObservedRank& observed : observation_.ranks) {
      const Program& own = observed.program;
      for (uint32_t id = 0; id < own.nodes.size(); ++id) {
        const Node& node = own.nodes[id];
        if (!graph::is_collective(node.kind)) {
          continue;
        }
        const uint32_t communicator = job_.communicator(own.rank, node.communicator);
        Meeting& meeting = meetings_[key(observed, node)];
        Meeting::Clock& clock = meeting.clocks[observed.clock];
        ++meeting.members;
        clock.last_arrival = std::max(clock.last_arrival, observed.nodes[id].start);
        clock.first_end = std::min(clock.first_end, observed.nodes[id].end);
        if (graph::has_root(node.kind) &&
            job_.communicators[communicator].ranks[static_cast<size_t>(node.root)] == own.rank) {
          meeting.root = Member{own.rank, id};
        }
      }
    }
    for (const auto& [name, meeting] : meetings_) {
      report_.estimated += meeting.clocks.size() > 1 ? 1 : 0;
    }
  }

  void set_durations(const ObservedRank& observed, RankTimes& set) {
    const Program& own = observed.program;
    for (uint32_t id = 0; id < own.nodes.size(); ++id) {
      const Node& node = own.nodes[id];
      const Span& at = observed.nodes[id];
      if (graph::is_collective(node.kind)) {
        const DurationNs transfer = at_least_0(collective(observed, id), report_.transfers);
        const uint32_t communicator = job_.communicator(own.rank, node.communicator);
        const bool whole = meetings_.at(key(observed, node)).members ==
                           job_.communicators[communicator].ranks.size();
        set.durations.set(
            id,
            whole ? transfer : with_unseen(transfer, job_.program(own.rank).nodes[id].duration));
      } else if (graph::has_parts(node.kind)) {
        set_parts(observed, id, set);
      } else {
        set.durations.set(id, at.end - at.start);
      }
    }
  }

  DurationNs collective(const ObservedRank& observed, uint32_t id) {
    const Rank rank = observed.program.rank;
    const Node& node = observed.program.nodes[id];
    const Span& own = observed.nodes[id];
    const Meeting& meeting = meetings_.at(key(observed, node));
    if (graph::has_root(node.kind)) {
      if (!meeting.root) {
        return own.end - own.start;  // the root was instant
      }
      if (meeting.root->rank != rank) {
        const Span& root = span(meeting.root->rank, meeting.root->node);
        return same_clock(rank, meeting.root->rank)
                   ? own.end - std::max(own.start, root.start)
                   : std::min(own.end - own.start, root.end - root.start);
      }
      if (node.kind == Kind::Broadcast) {
        return own.end - own.start;
      }
    }
    // How much later than the first of its clock this member ended is its own; the transfer is that
    // of the clock whose members came last.
    const Meeting::Clock& clock = meeting.clocks.at(observed.clock);
    DurationNs transfer = clock.first_end - clock.last_arrival;
    for (const auto& [number, other] : meeting.clocks) {
      transfer = std::min(transfer, other.first_end - other.last_arrival);
    }
    return transfer + own.end - clock.first_end;
  }

  bool is_eager(const Program& program, const Part& part) const {
    return part.kind == Kind::Send && part.bytes > 0 && part.bytes <= options_.eager_bytes &&
           program.communicators[part.communicator].backend == "nccl";
  }

  /// A part as its rank saw it. Where several parts of a batch end with it, all but the last ended
  /// some time before: which one that is, is not known.
  struct SeenPart {
    TimeNs arrival = 0;
    TimeNs end = 0;
    bool end_is_known = true;
    DurationNs length() const { return end - arrival; }
  };
  SeenPart seen(const ObservedRank& observed, uint32_t id, uint32_t p) const {
    const Node& node = observed.program.nodes[id];
    const TimeNs node_end = observed.nodes[id].end;
    uint32_t last = 0;
    for (uint32_t other = node.first_part; other < node.first_part + node.part_count; ++other) {
      last += observed.parts[other].end == node_end ? 1 : 0;
    }
    const TimeNs end = observed.parts[p].end;
    return {observed.nodes[id].start, end, end != node_end || last == 1};
  }
  /// The other end of a part: nullptr where there is none (an eager send does not wait for it;
  /// `other` stays without a part) or it was not observed.
  const ObservedRank* other_end(const ObservedRank& observed, uint32_t p,
                                graph::PartOf& other) const {
    const Program& own = observed.program;
    if (is_eager(own, own.parts[p])) {
      return nullptr;
    }
    other = graph::partner(job_, messages_, own.rank, p);
    if (other.part == graph::kNone || !is_observed(other.rank) ||
        observed_[other.rank]->run != observed.run) {
      return nullptr;
    }
    return observed_[other.rank];
  }

  void set_parts(const ObservedRank& observed, uint32_t id, RankTimes& set) {
    const Node& node = observed.program.nodes[id];
    bool comparable = true;
    TimeNs last_end = std::numeric_limits<TimeNs>::min();
    TimeNs last_start = 0;
    uint32_t last = graph::kNone;
    for (uint32_t p = node.first_part; p < node.first_part + node.part_count; ++p) {
      graph::PartOf other{0, graph::kNone};
      const ObservedRank* its = other_end(observed, p, other);
      const SeenPart own = seen(observed, id, p);
      DurationNs duration = own.length();
      TimeNs start = own.arrival;
      if (its == nullptr && other.part != graph::kNone) {
        comparable = false;
        duration = with_unseen(duration, job_.program(observed.program.rank).parts[p].duration);
      } else if (its != nullptr) {
        const SeenPart far = seen(*its, node_of_part(other), other.part);
        if (its->clock == observed.clock) {
          start = std::max(own.arrival, far.arrival);
          // An eager send has ended before its message came.
          const bool far_shows = !is_eager(its->program, its->program.parts[other.part]);
          duration =
              (own.end_is_known || !far_shows ? own.end : std::min(own.end, far.end)) - start;
        } else {
          comparable = false;
          ++report_.estimated;
          duration = across_clocks(observed, p, own, far);
        }
      }
      set.parts.set(p, at_least_0(duration, report_.transfers));
      if (start + duration > last_end) {
        last_end = start + duration;
        last_start = start;
        last = p;
      }
    }
    if (comparable && last_end < observed.nodes[id].end) {
      set.parts.set(last, observed.nodes[id].end - last_start);
    }
  }

  /// Whoever came last did not wait, so the shorter of both views counts; where other parts hide
  /// the end in both, at most the fastest message of that channel and size.
  DurationNs across_clocks(const ObservedRank& observed, uint32_t p, const SeenPart& own,
                           const SeenPart& far) {
    const DurationNs shorter = std::min(own.length(), far.length());
    return own.end_is_known || far.end_is_known
               ? shorter
               : std::min(shorter, fastest_of_channel(observed, p));
  }
  DurationNs fastest_of_channel(const ObservedRank& observed, uint32_t p) {
    if (fastest_.empty()) {
      find_fastest();
    }
    return fastest_.at(channel_of(observed.program, p));
  }
  using ChannelAndSize = std::pair<uint32_t, uint64_t>;
  ChannelAndSize channel_of(const Program& program, uint32_t p) const {
    const graph::ClassMessages& messages = messages_.classes[job_.class_of[program.rank]];
    return {messages_.channel_or_mailbox(program.rank, messages.endpoint_of_part[p]),
            program.parts[p].bytes};
  }
  void find_fastest() {
    for (const ObservedRank& observed : observation_.ranks) {
      const Program& own = observed.program;
      for (uint32_t id = 0; id < own.nodes.size(); ++id) {
        const Node& node = own.nodes[id];
        for (uint32_t p = node.first_part; p < node.first_part + node.part_count; ++p) {
          if (own.parts[p].peer == graph::kAnySource) {
            continue;
          }
          const DurationNs length = seen(observed, id, p).length();
          DurationNs& fastest = fastest_.try_emplace(channel_of(own, p), length).first->second;
          fastest = std::min(fastest, length);
        }
      }
    }
  }

  uint32_t node_of_part(const graph::PartOf& part) const {
    return messages_.classes[job_.class_of[part.rank]].node_of_part[part.part];
  }

  const graph::Job& job_;
  const graph::Messages& messages_;
  const Observation& observation_;
  const CalibrateOptions& options_;
  SampleReport& report_;
  std::vector<const ObservedRank*> observed_;     ///< by rank
  std::unordered_map<uint32_t, TimeNs> origins_;  ///< by clock: the first arrival
  std::map<Key, Meeting> meetings_;
  std::map<ChannelAndSize, DurationNs> fastest_;  ///< as either end saw it; see fastest_of_channel
};

/// The kinds of iterations that were met, each with what calibration needs of it.
class Kinds {
 public:
  Kinds(const CalibrateOptions& options, Calibrated& result) : options_(options), result_(result) {}

  void add(size_t kind, const Observation& one, uint32_t iteration, uint32_t repeat) {
    SampleReport& report = result_.reports[kind].emplace_back();
    report.iteration = iteration;
    graph::IterationKind& of = result_.trace.kinds[kind];
    of.samples.push_back(
        {iteration, repeat, Calibration(of.job, messages_[kind], one, options_, report).run()});
  }

  Result<size_t> add_kind(graph::Job job) {
    PRISM_TRY_ASSIGN(graph::Messages messages, graph::connect_messages(job));
    messages_.push_back(std::move(messages));
    result_.trace.kinds.push_back({std::move(job), {}, {}, {}});
    result_.reports.emplace_back();
    return result_.trace.kinds.size() - 1;
  }

  /// The kind of an iteration of which all ranks were observed; a new one where its structure is.
  Result<size_t> kind_of(const Observation& one) {
    for (size_t kind = 0; kind < result_.trace.kinds.size(); ++kind) {
      const graph::Job& job = result_.trace.kinds[kind].job;
      const bool same =
          job.world_size == one.world_size &&
          std::all_of(one.ranks.begin(), one.ranks.end(), [&](const ObservedRank& observed) {
            return graph::first_difference(job.program(observed.program.rank), observed.program)
                .empty();
          });
      if (same) {
        return kind;
      }
    }
    std::vector<std::vector<Rank>> classes;
    std::vector<Program> programs;
    classes.reserve(one.ranks.size());
    programs.reserve(one.ranks.size());
    for (const ObservedRank& rank : one.ranks) {
      classes.push_back({rank.program.rank});
      programs.push_back(rank.program);
    }
    PRISM_TRY_ASSIGN(graph::Job job,
                     graph::instantiate(one.world_size, classes, std::move(programs)));
    PRISM_TRY(graph::check(job));
    return add_kind(std::move(job));
  }

 private:
  const CalibrateOptions& options_;
  Calibrated& result_;
  std::vector<graph::Messages> messages_;  ///< by kind
};

std::string difference(const graph::Job& a, const graph::Job& b) {
  if (a.world_size != b.world_size) {
    return "a world of " + std::to_string(a.world_size) + " ranks against one of " +
           std::to_string(b.world_size);
  }
  for (Rank rank = 0; rank < a.world_size; ++rank) {
    const std::string found = graph::first_difference(a.program(rank), b.program(rank));
    if (!found.empty()) {
      return "rank " + std::to_string(rank) + ", " + found;
    }
  }
  return {};
}

/// The most frequent kind first; the others say how they differ from it.
void order_kinds(Calibrated& calibrated) {
  std::vector<graph::IterationKind>& kinds = calibrated.trace.kinds;
  std::vector<size_t> order(kinds.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return kinds[a].samples.size() > kinds[b].samples.size();
  });
  Calibrated ordered;
  ordered.trace.kinds.reserve(kinds.size());
  ordered.reports.reserve(kinds.size());
  for (const size_t kind : order) {
    ordered.trace.kinds.push_back(std::move(kinds[kind]));
    ordered.reports.push_back(std::move(calibrated.reports[kind]));
  }
  kinds = std::move(ordered.trace.kinds);
  calibrated.reports = std::move(ordered.reports);
  for (size_t kind = 1; kind < kinds.size(); ++kind) {
    kinds[kind].difference = difference(kinds.front().job, kinds[kind].job);
  }
}

Status compare(const graph::Job& job, const ObservedRank& observed) {
  const Rank rank = observed.program.rank;
  if (rank >= job.world_size || observed.program.world_size != job.world_size) {
    return run_error("it is rank " + std::to_string(rank) + " of a world of " +
                         std::to_string(observed.program.world_size) + ", the graph has " +
                         std::to_string(job.world_size) + " ranks",
                     Code::InvalidArgument);
  }
  if (job.class_of_rank(rank).members.size() > 1) {
    return graph::compare_structure(job, observed.program);
  }
  const std::string found = graph::first_difference(job.program(rank), observed.program);
  return found.empty() ? Status() : run_error(found, Code::InvalidArgument);
}

/// Of the numbers of a column, their medians over the samples.
std::vector<DurationNs> medians(const std::vector<const RankTimes*>& samples,
                                Column RankTimes::*column) {
  std::vector<DurationNs> result((samples.front()->*column).size());
  std::vector<DurationNs> values(samples.size());
  for (size_t i = 0; i < result.size(); ++i) {
    for (size_t s = 0; s < samples.size(); ++s) {
      values[s] = (samples[s]->*column)[i];
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    result[i] = *middle;
  }
  return result;
}

/// Programs get the medians of a measured member, so that the job can be used by itself.
void set_own_times(graph::IterationKind& kind) {
  for (graph::Class& c : kind.job.classes) {
    std::vector<const RankTimes*> samples;
    for (size_t m = 0; samples.empty() && m < c.members.size(); ++m) {
      const Rank rank = c.members[(c.representative + m) % c.members.size()];
      for (const graph::Sample& sample : kind.samples) {
        if (const RankTimes* times = sample.times.of(rank)) {
          samples.push_back(times);
        }
      }
    }
    if (samples.empty()) {
      continue;
    }
    const std::vector<DurationNs> durations = medians(samples, &RankTimes::durations);
    const std::vector<DurationNs> gaps = medians(samples, &RankTimes::gaps);
    const std::vector<DurationNs> parts = medians(samples, &RankTimes::parts);
    for (size_t id = 0; id < c.program.nodes.size(); ++id) {
      c.program.nodes[id].duration = durations[id];
      c.program.nodes[id].gap = gaps[id];
    }
    for (size_t p = 0; p < c.program.parts.size(); ++p) {
      c.program.parts[p].duration = parts[p];
    }
  }
}

void set_sources(graph::Trace& trace) {
  trace.times_from.assign(trace.kinds.front().job.world_size, graph::kNone);
  for (const graph::IterationKind& kind : trace.kinds) {
    for (const graph::Sample& sample : kind.samples) {
      for (Rank rank = 0; rank < trace.times_from.size(); ++rank) {
        if (sample.times.of(rank) != nullptr) {
          trace.times_from[rank] = rank;
        }
      }
    }
  }
}

Calibrated finished(Calibrated calibrated) {
  order_kinds(calibrated);
  for (graph::IterationKind& kind : calibrated.trace.kinds) {
    set_own_times(kind);
  }
  set_sources(calibrated.trace);
  return calibrated;
}

}  // namespace

void Corrections::add(const Corrections& more) {
  count += more.count;
  largest = std::max(largest, more.largest);
}

SampleReport total_of(const Calibrated& calibrated) {
  SampleReport total;
  for (const std::vector<SampleReport>& reports : calibrated.reports) {
    for (const SampleReport& report : reports) {
      total.gaps.add(report.gaps);
      total.transfers.add(report.transfers);
      total.estimated += report.estimated;
      total.unseen += report.unseen;
    }
  }
  return total;
}

Result<Calibrated> calibrate(const std::vector<Observation>& repeats,
                             const CalibrateOptions& options) {
  Calibrated result;
  Kinds kinds(options, result);
  for (uint32_t repeat = 0; repeat < repeats.size(); ++repeat) {
    PRISM_TRY(check_complete(repeats[repeat]));
    const size_t known = result.trace.kinds.size();
    const Iterations iterations(repeats[repeat]);
    if (options.whole) {
      const Observation all = iterations.whole();
      PRISM_TRY_ASSIGN(const size_t kind, kinds.kind_of(all));
      kinds.add(kind, all, 0, repeat);
      continue;
    }
    bool alike = repeat == 0;
    for (const uint32_t iteration : iterations.numbers()) {
      const Observation one = iterations.cut(iteration);
      PRISM_TRY_ASSIGN(const size_t kind, kinds.kind_of(one));
      kinds.add(kind, one, iteration, repeat);
      alike |= kind < known;
    }
    if (!alike) {
      return run_error(
          "repeats are not of one job: no iteration of the one from '" +
              repeats[repeat].ranks.front().source +
              "' is like one before it; the first difference: " +
              difference(result.trace.kinds.front().job, result.trace.kinds.back().job),
          Code::InvalidArgument);
    }
  }
  return finished(std::move(result));
}

Result<Calibrated> calibrate(const graph::Job& graph, const std::vector<Observation>& repeats,
                             const CalibrateOptions& options) {
  Calibrated result;
  Kinds kinds(options, result);
  const bool one_iteration =
      std::all_of(graph.classes.begin(), graph.classes.end(),
                  [](const graph::Class& c) { return c.program.iterations <= 1; });
  graph::Job job = graph;
  for (graph::Class& c : job.classes) {
    c.program = one_iteration ? in_structure_order(c.program) : std::move(c.program);
  }
  PRISM_TRY_ASSIGN(const size_t kind, kinds.add_kind(job));
  const auto add = [&](const Observation& one, uint32_t iteration, uint32_t repeat) -> Status {
    for (const ObservedRank& observed : one.ranks) {
      PRISM_TRY(compare(job, observed)
                    .context("iteration " + std::to_string(iteration) + " of rank " +
                             std::to_string(observed.program.rank) + " (" + observed.source +
                             ") is not what the graph says; is it of another job?"));
    }
    kinds.add(kind, one, iteration, repeat);
    return {};
  };
  for (uint32_t repeat = 0; repeat < repeats.size(); ++repeat) {
    const Iterations iterations(repeats[repeat]);
    if (!one_iteration) {
      PRISM_TRY(add(iterations.whole(), 0, repeat));
      continue;
    }
    for (const uint32_t iteration : iterations.numbers()) {
      PRISM_TRY(add(iterations.cut(iteration), iteration, repeat));
    }
  }
  return finished(std::move(result));
}

}  // namespace prism::calibrate
