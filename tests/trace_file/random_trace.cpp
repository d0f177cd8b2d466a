// SPDX-License-Identifier: Apache-2.0
#include "tests/trace_file/random_trace.hpp"

#include <random>
#include <utility>

#include "tests/reference/random_job.hpp"

namespace prism::trace_file {
namespace {

using graph::Column;
using graph::Job;
using graph::kNone;
using graph::Program;
using graph::RankTimes;

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  bool chance(uint32_t percent) { return below(100) < percent; }

  /// Of all magnitudes, also those that take more than 4 bytes.
  DurationNs duration() {
    switch (below(20)) {
      case 0:
        return 0;
      case 1:
        return DurationNs{Column::kLong} + below(3) - 1;
      case 2:
        return DurationNs{1} << (32 + below(30));
      default:
        return below(1000) + (chance(50) ? 100'000 : 0);
    }
  }
  Column column(size_t size) {
    Column result(chance(20) ? 0 : size);
    for (size_t i = 0; i < result.size(); ++i) {
      result.set(i, duration());
    }
    return result;
  }
  RankTimes times_of(const Program& program) {
    return {column(program.nodes.size()), column(program.nodes.size()),
            column(program.parts.size())};
  }
  std::string text() {
    std::string result(below(12), 'x');
    for (char& c : result) {
      c = static_cast<char>('a' + below(26));
    }
    return chance(10) ? result + "\n\"\xc3\xa9" : result;
  }
  void label(Program& program) {
    if (chance(30)) {
      return;
    }
    for (uint32_t i = 0; i < 5; ++i) {
      program.texts.push_back(text());
    }
    program.labels.resize(program.nodes.size());
    for (graph::Labels& label : program.labels) {
      label = {below(5), chance(50) ? below(5) : kNone, chance(50) ? -1 : 3, -1,
               static_cast<int32_t>(below(100)) - 1};
    }
  }

 private:
  std::mt19937_64 random_;
};

/// Jobs of random seeds until one can be instantiated and has `ranks` ranks (0: any).
Job job_of(uint64_t seed, uint32_t ranks) {
  for (uint64_t at = seed;; at += 1'000'003) {
    reference::RandomJob random = reference::random_job(at);
    if (ranks != 0 && random.world_size != ranks) {
      continue;
    }
    Generator generator(at);
    for (Program& program : random.programs) {
      generator.label(program);
    }
    auto job = graph::instantiate(random.world_size, random.classes, std::move(random.programs));
    if (job.ok()) {
      return std::move(job).value();
    }
  }
}

void write(JsonWriter& json, const graph::Communicator& c) {
  json.begin_array();
  json.value(c.name).value(c.description).value(c.backend).value(c.nth).value(c.creation);
  json.begin_array();
  for (const Rank rank : c.ranks) {
    json.value(rank);
  }
  json.end_array();
  json.end_array();
}

template <typename List, typename Write>
void list(JsonWriter& json, const char* name, const List& elements, Write write_element) {
  json.key(name).begin_array();
  for (const auto& element : elements) {
    write_element(element);
  }
  json.end_array();
}
template <typename List>
void values(JsonWriter& json, const char* name, const List& elements) {
  list(json, name, elements, [&](const auto& element) { json.value(element); });
}

void write(JsonWriter& json, const Column& column) {
  json.begin_array();
  for (size_t i = 0; i < column.size(); ++i) {
    json.value(column[i]);
  }
  json.end_array();
}

void write(JsonWriter& json, const RankTimes& times) {
  json.begin_array();
  write(json, times.durations);
  write(json, times.gaps);
  write(json, times.parts);
  json.end_array();
}

void write(JsonWriter& json, const Program& program) {
  json.begin_object();
  json.member("rank", program.rank);
  json.member("world_size", program.world_size);
  json.member("iterations", program.iterations);
  list(json, "lanes", program.lanes, [&](const graph::Lane& lane) {
    json.begin_array().value(static_cast<int>(lane.kind)).value(lane.name).end_array();
  });
  list(json, "communicators", program.communicators, [&](const auto& c) { write(json, c); });
  list(json, "others", program.others, [&](const auto& c) { write(json, c); });
  list(json, "nodes", program.nodes, [&](const graph::Node& n) {
    json.begin_array();
    json.value(static_cast<int>(n.kind)).value(n.dtype).value(n.reduction).value(n.lane);
    json.value(n.communicator).value(n.sequence).value(n.root).value(n.input_bytes);
    json.value(n.output_bytes).value(n.first_part).value(n.part_count).value(n.of);
    json.value(n.first_dependency).value(n.dependency_count).value(n.iteration);
    json.value(n.duration).value(n.gap);
    json.end_array();
  });
  list(json, "parts", program.parts, [&](const graph::Part& p) {
    json.begin_array();
    json.value(static_cast<int>(p.kind)).value(p.peer).value(p.tag).value(p.communicator);
    json.value(p.bytes).value(p.dtype).value(p.duration);
    json.end_array();
  });
  values(json, "dependencies", program.dependencies);
  list(json, "labels", program.labels, [&](const graph::Labels& l) {
    json.begin_array();
    json.value(l.name).value(l.phase).value(l.micro_batch).value(l.chunk).value(l.layer);
    json.end_array();
  });
  values(json, "texts", program.texts);
  json.end_object();
}

void write(JsonWriter& json, const Job& job) {
  json.begin_object();
  json.member("world_size", job.world_size);
  list(json, "classes", job.classes, [&](const graph::Class& c) {
    json.begin_object();
    values(json, "members", c.members);
    json.member("representative", c.representative);
    json.key("program");
    write(json, c.program);
    json.end_object();
  });
  list(json, "communicators", job.communicators, [&](const auto& c) { write(json, c); });
  list(json, "derived", job.communicators, [&](const auto& c) { json.value(c.synthesised); });
  values(json, "class_of", job.class_of);
  values(json, "index_of", job.index_of);
  values(json, "first_slot", job.first_slot);
  values(json, "table", job.table);
  json.end_object();
}

void write(JsonWriter& json, const graph::Sample& sample) {
  json.begin_object();
  json.member("iteration", sample.iteration);
  json.member("repeat", sample.repeat);
  list(json, "sets", sample.times.sets, [&](const RankTimes& set) { write(json, set); });
  values(json, "set_of", sample.times.set_of);
  json.end_object();
}

void write_spans(JsonWriter& json, const char* name, const std::vector<calibrate::Span>& spans) {
  list(json, name, spans, [&](const calibrate::Span& span) {
    json.begin_array().value(span.start).value(span.end).end_array();
  });
}

}  // namespace

graph::Sample random_sample(const Job& job, uint64_t seed) {
  Generator random(seed);
  graph::Sample sample{random.below(1000), random.below(3), {}};
  if (random.chance(10)) {
    return sample;
  }
  std::vector<uint32_t> shared(job.classes.size(), kNone);
  const bool share = random.chance(30);
  for (Rank rank = 0; rank < job.world_size; ++rank) {
    uint32_t& common = shared[job.class_of[rank]];
    if (share && common != kNone) {
      sample.times.set_of.push_back(common);
    } else if (random.chance(15)) {
      sample.times.set_of.push_back(kNone);
    } else {
      common = static_cast<uint32_t>(sample.times.sets.size());
      sample.times.set_of.push_back(common);
      sample.times.sets.push_back(random.times_of(job.program(rank)));
    }
  }
  return sample;
}

graph::Trace random_trace(uint64_t seed) {
  Generator random(seed);
  graph::Trace trace;
  trace.origin = random.text();
  while (random.chance(40)) {
    trace.notes.push_back(random.text());
  }
  const uint32_t kinds = 1 + random.below(3);
  uint32_t ranks = 0;
  for (uint32_t k = 0; k < kinds; ++k) {
    graph::IterationKind kind;
    // The same job again, sometimes: its programs are equal.
    kind.job = k > 0 && random.chance(30) ? trace.kinds[0].job : job_of(seed * 10 + k, ranks);
    ranks = kind.job.world_size;
    const uint32_t samples = random.below(4);
    for (uint32_t s = 0; s < samples; ++s) {
      kind.samples.push_back(random_sample(kind.job, seed * 100 + s));
    }
    if (random.chance(30)) {
      kind.counted.push_back(0);
    }
    kind.difference = k > 0 ? random.text() : "";
    trace.kinds.push_back(std::move(kind));
  }
  for (Rank rank = 0; rank < ranks && seed % 3 != 0; ++rank) {
    trace.times_from.push_back(random.chance(20) ? kNone : random.below(ranks));
  }
  return trace;
}

calibrate::Observation random_observation(uint64_t seed) {
  Generator random(seed);
  const Job job = job_of(seed, 0);
  calibrate::Observation observation;
  observation.world_size = job.world_size;
  observation.notes.push_back(random.text());
  for (Rank rank = 0; rank < job.world_size; ++rank) {
    if (seed % 4 == 3 && random.chance(50)) {
      continue;  // a slice
    }
    calibrate::ObservedRank& its = observation.ranks.emplace_back();
    its.program = job.program(rank);
    its.program.rank = rank;
    its.clock = random.below(3);
    its.run = random.below(3);
    its.source = "rank" + std::to_string(rank) + ".json";
    its.program.labels.resize(its.program.nodes.size());
    std::vector<TimeNs> end(its.program.lanes.size(), -5'000 + int64_t{random.below(10'000)});
    for (graph::Node& node : its.program.nodes) {
      node.duration = 0;
      node.gap = 0;
      node.iteration = random.chance(10) ? kNone : node.iteration;
      const TimeNs start = end[node.lane] + random.below(100);
      end[node.lane] = start + random.duration() % 1'000'000'000'000;
      its.nodes.push_back({start, end[node.lane]});
    }
    for (graph::Part& part : its.program.parts) {
      part.duration = 0;
      const TimeNs start = random.below(1000);
      its.parts.push_back({start, start + random.below(1000)});
    }
  }
  return observation;
}

std::string dump(const graph::Trace& trace) {
  std::string text;
  JsonWriter json(text, JsonWriter::Layout::OneLine);
  json.begin_object();
  json.member("origin", trace.origin);
  values(json, "notes", trace.notes);
  values(json, "times_from", trace.times_from);
  list(json, "kinds", trace.kinds, [&](const graph::IterationKind& kind) {
    json.begin_object();
    json.member("difference", kind.difference);
    values(json, "counted", kind.counted);
    json.key("job");
    write(json, kind.job);
    list(json, "samples", kind.samples, [&](const graph::Sample& s) { write(json, s); });
    json.end_object();
  });
  json.end_object();
  return text;
}

std::string dump(const graph::RankTimes& times) {
  std::string text;
  JsonWriter json(text, JsonWriter::Layout::OneLine);
  write(json, times);
  return text;
}

std::string dump(const calibrate::Observation& observation) {
  std::string text;
  JsonWriter json(text, JsonWriter::Layout::OneLine);
  json.begin_object();
  json.member("world_size", observation.world_size);
  values(json, "notes", observation.notes);
  list(json, "ranks", observation.ranks, [&](const calibrate::ObservedRank& rank) {
    json.begin_object();
    json.member("clock", rank.clock);
    json.member("run", rank.run);
    json.member("source", rank.source);
    json.key("program");
    write(json, rank.program);
    write_spans(json, "nodes", rank.nodes);
    write_spans(json, "parts", rank.parts);
    json.end_object();
  });
  json.end_object();
  return text;
}

}  // namespace prism::trace_file
