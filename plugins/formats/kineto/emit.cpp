// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/kineto/emit.hpp"

#include <algorithm>
#include <queue>

#include "plugins/formats/kineto/communicators.hpp"
#include "plugins/formats/kineto/threads.hpp"

namespace prism::kineto {
namespace {

/// Something of a thread that happens later than its record starts.
struct Later {
  enum class What : uint8_t {
    Resume,  ///< a synchronization goes on
    Copied,  ///< a call that copies returns once it is copied
    StepEnd,
  };
  int64_t at = 0;
  uint32_t record = 0;
  What what = What::Resume;
  int64_t end = 0;  ///< of the call

  bool operator>(const Later& other) const {
    return std::tuple(at, record) > std::tuple(other.at, other.record);
  }
};

class Emitter {
 public:
  Emitter(Timeline& timeline, const Operations& operations, const std::vector<Edge>& waits,
          uint32_t rank, std::vector<uint32_t> given, sdk::TraceSink& sink)
      : timeline_(timeline),
        trace_(timeline.trace),
        operations_(operations),
        waits_(waits),
        sink_(sink),
        communicators_(timeline.trace, rank, std::move(given), sink),
        handovers_(find_handovers(timeline)),
        phases_(timeline, handovers_),
        steps_(timeline),
        node_(timeline.size(), PRISM_NO_INDEX),
        lanes_(timeline.trace.lanes.size()) {}

  void run() {
    add_lanes();
    for (uint32_t i = 0; i < timeline_.size(); ++i) {
      const Record& record = timeline_[i];
      catch_up(record.start, !on_device(record.kind()));
      if (on_device(record.kind())) {
        add_device(i);
      } else if (record.kind() == Kind::Launch || is_sync(record.kind())) {
        add_call(i);
      } else if (record.kind() == Kind::Step) {
        begin_step(i);
      }
    }
    catch_up(INT64_MAX, true);
    communicators_.tell_world();
  }

 private:
  struct Lane {
    uint32_t index = PRISM_NO_INDEX;  ///< of the sink
    // Of a thread:
    bool began = false;
    int64_t told_until = 0;  ///< end of its last node
    int64_t busy_until = INT64_MIN;
    uint32_t last_node = PRISM_NO_INDEX;
    uint32_t last_call = kNone;
    uint32_t handed_over = PRISM_NO_INDEX;  ///< node that its next one depends on
  };

  void add_lanes() {
    int64_t first_gpu = -1;
    for (uint32_t i = 0; i < lanes_.size(); ++i) {
      const kineto::Lane& lane = trace_.lanes[i];
      if (lane.device) {
        first_gpu = first_gpu < 0 ? lane.gpu : first_gpu;
        const std::string gpu = lane.gpu == first_gpu ? "" : std::to_string(lane.gpu) + ".";
        lanes_[i].index =
            sink_.add_lane(PRISM_LANE_STREAM, "stream:" + gpu + std::to_string(lane.number));
      } else if (lane.calls > 0) {
        lanes_[i].index = sink_.add_lane(PRISM_LANE_CPU, "cpu:" + std::to_string(lane.number));
      }
    }
  }

  void catch_up(int64_t until, bool inclusive) {
    while (!later_.empty() &&
           (later_.top().at < until || (inclusive && later_.top().at == until))) {
      const Later later = later_.top();
      later_.pop();
      const uint32_t lane = timeline_[later.record].lane();
      if (later.what == Later::What::StepEnd) {
        if (later.at >= lanes_[lane].busy_until) {
          add_cpu_time(lane, later.at);
        }
      } else {
        resume(later);
      }
    }
  }

  void label(sdk::TraceNode& node, uint32_t thread, int64_t at) const {
    const Phases::Label label = phases_.at(thread, at);
    node.phase = to_string(label.phase);
    node.micro_batch = label.micro_batch;
    node.iteration = steps_.at(at);
  }

  /// A node of a thread, behind its last one. `needs`: nodes besides that.
  uint32_t add_thread_node(uint32_t thread, int64_t start, int64_t end, std::string_view name,
                           std::vector<uint32_t> needs) {
    Lane& lane = lanes_[thread];
    if (lane.handed_over != PRISM_NO_INDEX) {
      needs.push_back(lane.handed_over);
      lane.handed_over = PRISM_NO_INDEX;
    }
    sdk::TraceNode node;
    node.lane = lane.index;
    node.start_ns = trace_.base_ns + start;
    node.end_ns = trace_.base_ns + end;
    node.name = name;
    node.dependencies = needs;
    label(node, thread, start);
    lane.last_node = sink_.add_node(node);
    lane.told_until = end;
    lane.began = true;
    return lane.last_node;
  }

  /// What the thread did between its calls.
  void add_cpu_time(uint32_t thread, int64_t until) {
    Lane& lane = lanes_[thread];
    if (lane.began && lane.told_until < until && lane.index != PRISM_NO_INDEX) {
      add_thread_node(thread, lane.told_until, until, "cpu", {});
    }
    lane.told_until = std::max(lane.began ? lane.told_until : until, until);
    lane.began = true;
  }

  void begin_step(uint32_t index) {
    const Record& step = timeline_[index];
    if (step.start >= lanes_[step.lane()].busy_until) {
      add_cpu_time(step.lane(), step.start);
    }
    later_.push({step.end(), index, Later::What::StepEnd, step.end()});
  }

  void add_call(uint32_t index) {
    const Record call = timeline_[index];
    Lane& lane = lanes_[call.lane()];
    if (call.start < lane.busy_until) {  // a call within a call, of which it becomes a part
      const Record& outer = timeline_[lane.last_call];
      node_[index] = node_[lane.last_call];
      trace_.records[index].set_span(outer.start, outer.end());
      return;
    }
    const auto handover = handovers_.find(index);
    if (handover != handovers_.end()) {
      const Lane& from = lanes_[handover->second];
      lane.handed_over = from.last_node;
      lane.told_until = std::max(lane.began ? lane.told_until : INT64_MIN, from.told_until);
      lane.began = true;
    }
    add_cpu_time(call.lane(), call.start);
    lane.busy_until = call.end();
    lane.last_call = index;
    if (is_sync(call.kind())) {
      add_sync(index, call);
    } else {
      add_launch(index, call);
    }
  }

  void add_sync(uint32_t index, const Record& call) {
    int64_t resumed = call.start;
    for (auto wait = first_wait(index); is_of(wait, index); ++wait) {
      resumed = std::max(resumed, timeline_[wait->depends_on].end());
    }
    later_.push({std::min(resumed, call.end()), index, Later::What::Resume, call.end()});
  }

  void add_launch(uint32_t index, const Record& call) {
    // The work may begin, and a copy end, before the call has returned.
    int64_t issued = call.end();
    const uint32_t entry = timeline_.link[index];
    if (entry != kNone && timeline_[entry].start < issued) {
      issued = std::max(call.start, timeline_[entry].start);
    }
    node_[index] = add_thread_node(call.lane(), call.start, issued, trace_.names[call.detail], {});
    trace_.records[index].set_span(call.start, issued);
    if (entry != kNone && timeline_[entry].kind() == Kind::Copy &&
        timeline_[entry].end() <= call.end() && trace_.names[call.detail].find("Memcpy") < 8) {
      later_.push({timeline_[entry].end(), index, Later::What::Copied, call.end()});
    }
  }

  void resume(const Later& later) {
    const Record& call = timeline_[later.record];
    std::vector<uint32_t> needs;
    if (later.what == Later::What::Copied) {
      need(needs, timeline_.link[later.record], later.at);
    } else {
      for (auto wait = first_wait(later.record); is_of(wait, later.record); ++wait) {
        need(needs, wait->depends_on, later.at);
      }
    }
    const uint32_t node = add_thread_node(call.lane(), later.at, later.end,
                                          trace_.names[call.detail], std::move(needs));
    if (later.what == Later::What::Resume) {
      node_[later.record] = node;
    }
  }

  void add_device(uint32_t index) {
    const Record& record = timeline_[index];
    std::vector<uint32_t> needs;
    const uint32_t call = timeline_.link[index];
    if (call != kNone) {
      need(needs, call, record.start);
    }
    for (auto wait = first_wait(index); is_of(wait, index); ++wait) {
      need(needs, wait->depends_on, record.start);
    }
    sdk::TraceNode node;
    node.lane = lanes_[record.lane()].index;
    node.start_ns = trace_.base_ns + record.start;
    node.end_ns = trace_.base_ns + record.end();
    node.dependencies = needs;
    if (call != kNone) {
      label(node, timeline_[call].lane(), timeline_[call].start);
    } else {
      node.iteration = steps_.at(record.start);
    }
    parts_.clear();
    if (record.kind() == Kind::Communication) {
      describe(index, node);
    } else {
      node.name = trace_.names[record.detail];
    }
    node_[index] = sink_.add_node(node);
  }

  void describe(uint32_t index, sdk::TraceNode& node) {
    const Communication& c = trace_.communications[timeline_[index].detail];
    node.name = trace_.names[c.name];
    const Communicators::Known* group =
        c.kind == PRISM_NODE_COMPUTE ? nullptr : communicators_.find(c.group);
    if (group == nullptr) {
      ++trace_.counts.unknown_operation;
      return;
    }
    if (c.kind == PRISM_NODE_BATCH || is_point_to_point(c.kind)) {
      if (add_parts(index, node)) {
        node.kind = c.kind;
        node.parts = parts_;
      } else {
        ++trace_.counts.unknown_operation;
      }
      return;
    }
    trace_.counts.unknown_group += c.group == kNone ? 1 : 0;
    node.kind = c.kind;
    node.communicator = group->index;
    node.sequence = timeline_[index].correlation;
    node.dtype = c.dtype;
    node.reduction = c.reduction;
    const bool rooted = c.kind == PRISM_COMM_BROADCAST || c.kind == PRISM_COMM_SCATTER ||
                        c.kind == PRISM_COMM_REDUCE || c.kind == PRISM_COMM_GATHER;
    if (rooted && c.rank >= 0 && static_cast<size_t>(c.rank) < group->ranks.size()) {
      node.root = c.rank;
    }
    set_bytes(c, group->ranks.size(), node);
  }

  void set_bytes(const Communication& c, size_t members, sdk::TraceNode& node) {
    if (c.input_bytes < 0 && c.output_bytes < 0) {
      trace_.counts.unknown_size += c.kind == PRISM_COMM_BARRIER ? 0 : 1;
      return;
    }
    const auto n = static_cast<int64_t>(members);
    int64_t output = c.output_bytes;
    if (output < 0) {
      output = c.input_bytes;
      if (c.kind == PRISM_COMM_REDUCE_SCATTER) {
        output /= n;
      } else if (c.kind == PRISM_COMM_ALL_GATHER && __builtin_mul_overflow(output, n, &output)) {
        output = c.input_bytes;
      }
    }
    node.input_bytes = static_cast<uint64_t>(std::max<int64_t>(c.input_bytes, 0));
    node.output_bytes = static_cast<uint64_t>(output);
  }

  bool add_parts(uint32_t index, const sdk::TraceNode& node) {
    const auto found = operations_.parts.find(index);
    if (found == operations_.parts.end()) {
      return false;
    }
    for (const uint32_t detail : found->second) {
      const Communication& c = trace_.communications[detail];
      const Communicators::Known* group = communicators_.find(c.group);
      const int32_t peer = group == nullptr ? -1 : position(c.peer, group->ranks);
      if (peer < 0 || !is_point_to_point(c.kind)) {
        return false;
      }
      trace_.counts.unknown_size += c.input_bytes < 0 ? 1 : 0;
      prism_trace_part_t part{};
      part.kind = c.kind;
      part.peer = peer;
      part.communicator = group->index;
      part.dtype = c.dtype;
      part.bytes = static_cast<uint64_t>(std::max<int64_t>(c.input_bytes, 0));
      part.start_ns = node.start_ns;
      part.end_ns = node.end_ns;
      parts_.push_back(part);
    }
    return true;
  }

  /// Newer traces give the peer as a rank of the job, older ones as a position in the group.
  static int32_t position(int32_t peer, const std::vector<uint32_t>& ranks) {
    if (peer < 0) {
      return -1;
    }
    const auto found = std::find(ranks.begin(), ranks.end(), static_cast<uint32_t>(peer));
    if (found != ranks.end()) {
      return static_cast<int32_t>(found - ranks.begin());
    }
    return static_cast<size_t>(peer) < ranks.size() ? peer : -1;
  }

  std::vector<Edge>::const_iterator first_wait(uint32_t record) const {
    return std::lower_bound(waits_.begin(), waits_.end(), Edge{record, 0});
  }
  bool is_of(std::vector<Edge>::const_iterator edge, uint32_t record) const {
    return edge != waits_.end() && edge->record == record;
  }

  /// Adds the node of `record`, if that is there and ended by `until`.
  void need(std::vector<uint32_t>& needs, uint32_t record, int64_t until) {
    if (node_[record] == PRISM_NO_INDEX || timeline_[record].end() > until) {
      ++trace_.counts.contradicting;
    } else {
      needs.push_back(node_[record]);
    }
  }

  Timeline& timeline_;
  RankTrace& trace_;
  const Operations& operations_;
  const std::vector<Edge>& waits_;
  sdk::TraceSink& sink_;
  Communicators communicators_;
  const Handovers handovers_;
  const Phases phases_;
  const Steps steps_;
  std::vector<uint32_t> node_;  ///< of the sink, by record
  std::vector<Lane> lanes_;
  std::priority_queue<Later, std::vector<Later>, std::greater<>> later_;
  std::vector<prism_trace_part_t> parts_;
};

}  // namespace

void emit(Timeline& timeline, const Operations& operations, const std::vector<Edge>& waits,
          uint32_t rank, std::vector<uint32_t> given, sdk::TraceSink& sink) {
  Emitter(timeline, operations, waits, rank, std::move(given), sink).run();
}

}  // namespace prism::kineto
