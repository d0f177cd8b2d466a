// SPDX-License-Identifier: Apache-2.0
#include "core/cli/timeline.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/json.hpp"
#include "core/graph/messages.hpp"
#include "core/replay/engine.hpp"

namespace prism::cli {
namespace {

using graph::Kind;
using graph::kNone;

/// One slice of the picture.
struct Slice {
  Rank rank = 0;
  uint32_t node = 0;
  TimeNs arrival = 0;  ///< lane predecessor and dependencies have ended
  TimeNs start = 0;
  TimeNs end = 0;
};

class Timeline {
 public:
  Timeline(const graph::Job& job, uint32_t iteration, TimeNs origin)
      : job_(job), iteration_(iteration), origin_(origin) {
    out_ = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n";
  }

  void add_rank(const replay::RecordedTimes& times) {
    name_lanes(times.rank);
    const graph::Program& program = job_.program(times.rank);
    std::vector<uint32_t> last_on_lane(program.lanes.size(), kNone);
    for (uint32_t n = 0; n < program.nodes.size(); ++n) {
      const graph::Node& node = program.nodes[n];
      const uint32_t before = std::exchange(last_on_lane[node.lane], n);
      if (node.iteration != iteration_) {
        continue;
      }
      Slice slice{times.rank, n, 0, times.nodes[n].start, times.nodes[n].end};
      if (before != kNone) {
        slice.arrival = times.nodes[before].end;
      }
      for (uint32_t d = 0; d < node.dependency_count; ++d) {
        const uint32_t dependency = program.dependencies[node.first_dependency + d];
        slice.arrival = std::max(slice.arrival, times.nodes[dependency].end);
      }
      add_slice(slice);
    }
  }

  /// Arrows from whoever was late to those that waited, and from sends to receives.
  Status add_arrows() {
    for (const auto& [key, members] : groups_) {
      const auto late =
          std::max_element(members.begin(), members.end(),
                           [](const Slice& a, const Slice& b) { return a.arrival < b.arrival; });
      for (const Slice& member : members) {
        // Only when the picture holds the rank that everybody waited for.
        if (member.rank != late->rank && member.start == late->arrival) {
          add_arrow(*late, member);
        }
      }
    }
    return add_message_arrows();
  }

  std::string finish() {
    out_ += "\n]}\n";
    return std::move(out_);
  }
  size_t size() const { return out_.size(); }

 private:
  void name_lanes(Rank rank) {
    metadata(rank, 0, "process_name", "rank " + std::to_string(rank));
    const std::vector<graph::Lane>& lanes = job_.program(rank).lanes;
    for (uint32_t lane = 0; lane < lanes.size(); ++lane) {
      metadata(rank, lane, "thread_name", lanes[lane].name);
    }
  }

  void metadata(Rank rank, uint32_t lane, const char* what, const std::string& name) {
    JsonWriter json = event("M", rank, lane);
    json.member("name", what);
    json.key("args").begin_object().member("name", name).end_object();
    json.end_object();
  }

  void add_slice(const Slice& slice) {
    const graph::Program& program = job_.program(slice.rank);
    const graph::Node& node = program.nodes[slice.node];
    const bool waits = graph::is_collective(node.kind) || node.part_count > 0;
    const TimeNs begin = waits ? slice.arrival : slice.start;
    if (node.kind == Kind::Compute && slice.end == begin) {
      return;  // nothing to see
    }
    JsonWriter json = event("X", slice.rank, node.lane);
    time(json, "ts", begin - origin_);
    time(json, "dur", slice.end - begin);
    json.member("name", name_of(program, node));
    json.key("args").begin_object();
    json.member("node", slice.node);
    if (waits) {
      json.member("waited_ns", slice.start - slice.arrival);
      json.member("input_bytes", node.input_bytes);
      json.member("output_bytes", node.output_bytes);
    }
    json.end_object();
    json.end_object();
    if (graph::is_collective(node.kind)) {
      const uint32_t communicator = job_.communicator(slice.rank, node.communicator);
      groups_[{communicator, node.sequence}].push_back(slice);
    } else if (node.part_count > 0) {
      messages_.push_back(slice);
    }
  }

  static std::string name_of(const graph::Program& program, const graph::Node& node) {
    if (node.kind == Kind::Transfer) {
      return graph::to_string(program.nodes[node.of].kind) + std::string(" transfer");
    }
    if (graph::is_collective(node.kind)) {
      return graph::to_string(node.kind) + std::string(" ") + std::to_string(node.sequence);
    }
    return graph::to_string(node.kind);
  }

  Status add_message_arrows() {
    if (messages_.empty()) {
      return {};
    }
    PRISM_TRY_ASSIGN(const graph::Messages matched, graph::connect_messages(job_));
    std::map<std::pair<uint32_t, uint32_t>, Slice> sends;  // by channel and n
    for (const Kind kind : {Kind::Send, Kind::Recv}) {
      for (const Slice& slice : messages_) {
        const graph::Node& node = job_.program(slice.rank).nodes[slice.node];
        const graph::ClassMessages& own = matched.classes[job_.class_of[slice.rank]];
        for (uint32_t p = node.first_part; p < node.first_part + node.part_count; ++p) {
          const graph::Part& part = job_.program(slice.rank).parts[p];
          const uint32_t endpoint = own.endpoint_of_part[p];
          if (part.kind != kind || part.peer == graph::kAnySource) {
            continue;  // who sent to "any" was decided in the replay
          }
          const std::pair key{matched.channel_or_mailbox(slice.rank, endpoint), own.nth_of_part[p]};
          if (kind == Kind::Send) {
            sends[key] = slice;
          } else if (const auto send = sends.find(key); send != sends.end()) {
            add_arrow(send->second, slice);
          }
        }
      }
    }
    return {};
  }

  void add_arrow(const Slice& from, const Slice& to) {
    ++arrows_;
    arrow_end("s", from, from.arrival);
    arrow_end("f", to, to.end);
  }

  void arrow_end(const char* phase, const Slice& slice, TimeNs at) {
    JsonWriter json = event(phase, slice.rank, job_.program(slice.rank).nodes[slice.node].lane);
    time(json, "ts", at - origin_);
    json.member("name", "communication");
    json.member("cat", "flow");
    json.member("id", arrows_);
    if (*phase == 'f') {
      json.member("bp", "e");
    }
    json.end_object();
  }

  JsonWriter event(const char* phase, Rank rank, uint32_t lane) {
    out_ += first_ ? "" : ",\n";
    first_ = false;
    JsonWriter json(out_, JsonWriter::Layout::OneLine);
    json.begin_object();
    json.member("ph", phase);
    json.member("pid", rank);
    json.member("tid", lane);
    return json;
  }

  /// The format counts in microseconds; three decimals keep every nanosecond.
  static void time(JsonWriter& json, const char* name, int64_t ns) {
    char text[40];
    std::snprintf(text, sizeof text, "%s%lld.%03lld", ns < 0 ? "-" : "",
                  static_cast<long long>(std::abs(ns) / 1000),
                  static_cast<long long>(std::abs(ns) % 1000));
    json.key(name).number(text);
  }

  const graph::Job& job_;
  const uint32_t iteration_;
  const TimeNs origin_;
  std::string out_;
  bool first_ = true;
  uint64_t arrows_ = 0;
  std::map<std::pair<uint32_t, uint64_t>, std::vector<Slice>> groups_;
  std::vector<Slice> messages_;
};

void add_once(std::vector<Rank>& ranks, Rank rank, size_t most) {
  if (ranks.size() < most && std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) {
    ranks.push_back(rank);
  }
}

/// Ranks in the order of their worth to a reader.
std::vector<Rank> choose_ranks(const graph::Job& job, const replay::CriticalPath& path,
                               uint32_t most) {
  std::vector<Rank> ranks;
  for (const graph::Class& c : job.classes) {
    add_once(ranks, c.members[c.representative], most);
  }
  for (const replay::PathSegment& segment : path.segments) {
    add_once(ranks, segment.rank, most);
  }
  for (Rank rank = 0; rank < job.world_size && ranks.size() < most; ++rank) {
    add_once(ranks, rank, most);
  }
  return ranks;
}

}  // namespace

Result<TimelineSummary> write_timeline(const std::string& path, const graph::Job& job,
                                       const TimelineOptions& options) {
  replay::ReplayOptions replayed;
  replayed.first_iteration = options.iteration;
  replayed.last_iteration = options.iteration;
  PRISM_TRY_ASSIGN(const replay::ReplayResult critical, replay::replay(job, replayed));
  replayed.critical_path = false;
  replayed.record = choose_ranks(job, critical.critical_path, options.max_ranks);
  PRISM_TRY_ASSIGN(replay::ReplayResult result, replay::replay(job, replayed));

  std::sort(replayed.record.begin(), replayed.record.end());
  Timeline timeline(job, options.iteration, result.window_start);
  TimelineSummary summary;
  for (const Rank rank : replayed.record) {
    const auto times =
        std::find_if(result.recorded.begin(), result.recorded.end(),
                     [rank](const replay::RecordedTimes& t) { return t.rank == rank; });
    // Arrows take less than the slices they join.
    if (summary.ranks > 0 &&
        2 * timeline.size() / summary.ranks * (summary.ranks + 1) > options.max_bytes) {
      break;
    }
    timeline.add_rank(*times);
    ++summary.ranks;
  }
  PRISM_TRY(timeline.add_arrows());
  const std::string text = timeline.finish();
  summary.bytes = text.size();
  PRISM_TRY(write_file_atomically(path, text));
  return summary;
}

}  // namespace prism::cli
