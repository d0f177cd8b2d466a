// SPDX-License-Identifier: Apache-2.0
/// Prints jobs and what the engine says about them, on a virtual clock and on a simulated one with
/// a part of the ranks outside: one JSON document per job, each followed by a line with "---". For
/// compare.py.
///
/// engine_jobs FIRST_SEED COUNT: random jobs.
///
/// engine_jobs --recorded EVENTS: a job made from a rank's recording, under several links and
/// compute speeds.
///
/// engine_jobs --free EVENTS...: a job made from the recordings of one rank per class, with
/// communication that costs nothing; the classes are equal parts of the world, in order.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/check.hpp"
#include "core/graph/dump.hpp"
#include "core/graph/timing.hpp"
#include "core/replay/engine.hpp"
#include "core/replay/wall_clock.hpp"
#include "core/schedule/recorder.hpp"
#include "tests/reference/random_job.hpp"
#include "tests/reference/scripted_outside.hpp"

namespace prism::reference {
namespace {

using Links = std::map<std::string, link::Link>;

void write_links(const Links& links, JsonWriter& json) {
  json.key("links").begin_object();
  for (const auto& [description, link] : links) {
    json.key(description).begin_object();
    json.member("latency_ns", link.latency_ns);
    json.member("bandwidth_Bps", link.bandwidth_Bps);
    json.member("per_message_ns", link.per_message_ns);
    json.member("reduce_bandwidth_Bps", link.reduce_bandwidth_Bps);
    json.member("copy_bandwidth_Bps", link.copy_bandwidth_Bps);
    json.end_object();
  }
  json.end_object();
}

void write_splits(JsonWriter& json, const char* name,
                  const std::vector<replay::TimeSplit>& splits) {
  json.key(name).begin_array();
  for (const replay::TimeSplit& split : splits) {
    json.begin_array();
    json.value(split.compute).value(split.communication).value(split.waiting);
    json.end_array();
  }
  json.end_array();
}

void write_result(const replay::ReplayResult& result, JsonWriter& json) {
  json.key("times").begin_array();
  for (const replay::RecordedTimes& rank : result.recorded) {
    json.begin_array();
    for (const replay::NodeTimes& node : rank.nodes) {
      json.value(node.start).value(node.end).value(node.arrival);
    }
    json.end_array();
  }
  json.end_array();
  json.key("iteration_end").begin_array();
  for (const TimeNs end : result.iteration_end) {
    json.value(end);
  }
  json.end_array();
  json.key("classes").begin_array();
  for (const replay::ClassTimes& times : result.classes) {
    json.begin_object();
    write_splits(json, "representative", times.representative);
    write_splits(json, "least", times.least);
    write_splits(json, "most", times.most);
    json.key("busy").begin_array();
    for (const replay::LaneUse& lane : times.lanes) {
      json.begin_array();
      json.value(lane.representative).value(lane.least).value(lane.most);
      json.end_array();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.key("window").begin_array();
  json.value(result.window_start).value(result.window_end);
  json.end_array();
  json.key("critical_path").begin_array();
  for (const replay::PathSegment& segment : result.critical_path.segments) {
    json.begin_array();
    json.value(segment.rank).value(segment.node).value(segment.start).value(segment.end);
    json.value(segment.gap);
    json.end_array();
  }
  json.end_array();
  json.member("before", result.critical_path.before);
  json.key("waits").begin_array();
  for (const replay::Wait& wait : result.waits) {
    json.begin_array();
    json.value(wait.late).value(wait.waiting_class).value(wait.total).value(wait.count);
    json.end_array();
  }
  json.end_array();
}

/// Replays the job on a simulated clock, with a random part of the ranks outside, which take what
/// they take in the job. Prints who was outside, and arrival and end of all nodes that the engine
/// knows.
void write_clock_replay(uint64_t seed, const graph::Job& job,
                        const replay::ReplayOptions& virtually, JsonWriter& json) {
  std::mt19937_64 random(seed);
  const uint64_t share = random() % 101;
  std::vector<Rank> ranks;
  for (Rank rank = 0; rank < job.world_size; ++rank) {
    if (random() % 100 < share) {
      ranks.push_back(rank);
    }
  }
  replay::SimulatedClock clock;
  ScriptedOutside outside(job, {}, ranks, clock);
  replay::WallClockOptions options;
  options.eager_bytes = virtually.eager_bytes;
  options.record = virtually.record;
  options.look_ahead = static_cast<DurationNs>(random() % 1000);
  const auto result = replay::replay_on_clock(job, {}, {ranks, outside, outside, clock}, options);
  json.member("clock_error", result.ok() ? std::string() : result.status().to_string());
  json.member("in_order", outside.in_order());
  json.key("outside").begin_array();
  for (const Rank rank : ranks) {
    json.value(rank);
  }
  json.end_array();
  if (!result.ok()) {
    return;
  }
  json.member("late", result->report.lateness.max());
  json.member("published", result->report.lateness.count());
  json.key("clock_times").begin_array();
  for (const replay::RecordedTimes& rank : result->replay.recorded) {
    json.begin_array();
    for (const replay::NodeTimes& node : rank.nodes) {
      json.value(node.arrival).value(node.end);
    }
    json.end_array();
  }
  json.end_array();
}

/// Replays a job whose durations are set and prints all that the reference compares.
void write_job(uint64_t seed, const graph::Job& job, const Links& links, bool damaged,
               replay::ReplayOptions options) {
  options.top_waits = 1000;
  for (Rank rank = 0; rank < job.world_size; ++rank) {
    options.record.push_back(rank);
  }
  const Status check = graph::check(job);
  const Result<replay::ReplayResult> result = replay::replay(job, options);

  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.member("seed", seed);
  json.member("damaged", damaged);
  json.member("eager_bytes", options.eager_bytes);
  json.member("first_iteration", options.first_iteration);
  write_links(links, json);
  json.member("check", check.ok() ? std::string() : check.to_string());
  json.member("error", result.ok() ? std::string() : result.status().to_string());
  json.key("job");
  graph::dump(job, json);
  if (result.ok()) {
    write_result(*result, json);
  }
  write_clock_replay(seed, job, options, json);
  json.end_object();
  std::printf("%s\n---\n", text.c_str());
}

bool write_random_job(uint64_t seed) {
  // Small ones meet more of the corner cases in the same time.
  RandomJob random = random_job(seed, seed % 5 == 0 ? 64 : 12);
  Result<graph::Job> job =
      graph::instantiate(random.world_size, random.classes, std::move(random.programs));
  if (!job.ok()) {
    std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(seed),
                 job.status().to_string().c_str());
    return false;
  }
  if (!random.links.empty()) {
    graph::apply_links(
        *job, [&](const graph::Communicator& c) { return random.links.at(c.description); });
  }
  replay::ReplayOptions options;
  options.eager_bytes = random.eager_bytes;
  options.first_iteration = static_cast<uint32_t>(seed % 3);
  write_job(seed, *job, random.links, random.damaged, options);
  return true;
}

struct Recorded {
  uint32_t world_size = 0;
  graph::Program program;
};

std::optional<Recorded> read_recorded(const char* events) {
  const Result<schedule::Recording> recording = schedule::read_recording(events);
  Result<schedule::RecordedRank> recorded =
      recording.ok() ? schedule::build_program(*recording) : recording.status();
  if (!recorded.ok()) {
    std::fprintf(stderr, "%s: %s\n", events, recorded.status().to_string().c_str());
    return std::nullopt;
  }
  return Recorded{recording->world_size, std::move(recorded->program)};
}

std::optional<graph::Job> make_job(uint32_t world_size, std::vector<graph::Program> programs) {
  std::vector<std::vector<Rank>> classes;
  const auto members = static_cast<uint32_t>(world_size / programs.size());
  for (uint32_t c = 0; c < programs.size(); ++c) {
    std::vector<Rank>& ranks = classes.emplace_back(members);
    std::iota(ranks.begin(), ranks.end(), c * members);
  }
  Result<graph::Job> job = graph::instantiate(world_size, classes, std::move(programs));
  if (!job.ok()) {
    std::fprintf(stderr, "%s\n", job.status().to_string().c_str());
    return std::nullopt;
  }
  return *std::move(job);
}

/// A job of one class from a recorded rank: as it is, with twice the latency, with half the
/// bandwidth, and with compute that takes 1.5 times as long.
bool write_recorded_jobs(const char* events) {
  const std::optional<Recorded> recorded = read_recorded(events);
  if (!recorded) {
    return false;
  }
  const link::Link base{25'000, 12'500'000'000, 2'000, 20'000'000'000, 8'000'000'000};
  link::Link slow = base;
  slow.latency_ns *= 2;
  link::Link narrow = base;
  narrow.bandwidth_Bps /= 2;
  uint64_t number = 0;
  for (const auto& [link, scale] :
       {std::pair(base, 1.0), std::pair(slow, 1.0), std::pair(narrow, 1.0), std::pair(base, 1.5)}) {
    std::optional<graph::Job> job = make_job(recorded->world_size, {recorded->program});
    if (!job) {
      return false;
    }
    graph::apply_links(*job, [&link = link](const graph::Communicator&) { return link; });
    graph::scale_compute(*job, scale);
    Links links;
    for (const graph::Communicator& communicator : recorded->program.communicators) {
      links[communicator.description] = link;
    }
    write_job(number++, *job, links, false, {});
  }
  return true;
}

bool write_free_job(const std::vector<const char*>& files) {
  uint32_t world_size = 0;
  std::vector<graph::Program> programs;
  for (const char* events : files) {
    std::optional<Recorded> recorded = read_recorded(events);
    if (!recorded) {
      return false;
    }
    world_size = recorded->world_size;
    programs.push_back(std::move(recorded->program));
  }
  std::optional<graph::Job> job = make_job(world_size, std::move(programs));
  if (!job) {
    return false;
  }
  graph::apply_links(*job, [](const graph::Communicator&) { return link::Link{}; });
  write_job(0, *job, {}, false, {});
  return true;
}

}  // namespace
}  // namespace prism::reference

int main(int argc, char** argv) {
  if (argc > 2 && std::string(argv[1]) == "--free") {
    return prism::reference::write_free_job({argv + 2, argv + argc}) ? 0 : 1;
  }
  if (argc != 3) {
    std::fprintf(stderr,
                 "usage: engine_jobs FIRST_SEED COUNT | --recorded EVENTS | --free EVENTS...\n");
    return 2;
  }
  if (std::string(argv[1]) == "--recorded") {
    return prism::reference::write_recorded_jobs(argv[2]) ? 0 : 1;
  }
  const uint64_t first = std::strtoull(argv[1], nullptr, 10);
  const uint64_t count = std::strtoull(argv[2], nullptr, 10);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    if (!prism::reference::write_random_job(seed)) {
      return 1;
    }
  }
  return 0;
}
