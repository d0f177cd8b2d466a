// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/kineto/waits.hpp"

#include <algorithm>
#include <unordered_map>

namespace prism::kineto {
namespace {

class Finder {
 public:
  explicit Finder(Timeline& timeline)
      : most_(8 * uint64_t{timeline.size()} + Record::kLanes),
        timeline_(timeline),
        trace_(timeline.trace),
        last_(trace_.lanes.size(), kNone),
        told_(trace_.lanes.size()),
        threads_(trace_.lanes.size()),
        last_of_group_(trace_.groups.all().size(), kNone) {
    for (uint32_t lane = 0; lane < trace_.lanes.size(); ++lane) {
      if (trace_.lanes[lane].device) {
        streams_.push_back(lane);
      }
    }
    for (const SyncFact& fact : trace_.sync_facts) {
      facts_.emplace(fact.correlation, fact);
      if (fact.event_record != kNone && fact.awaited != kNone) {
        recorded_.emplace(fact.event_record, Recorded{fact.awaited, kNone});
      }
    }
  }

  std::vector<Edge> find() {
    for (uint32_t i = 0; i < timeline_.size(); ++i) {
      const Record& record = timeline_[i];
      switch (record.kind()) {
        case Kind::Launch:
          launch(i);
          break;
        case Kind::StreamSync:
        case Kind::EventSync:
        case Kind::DeviceSync:
          synchronize(i);
          break;
        case Kind::EventRecord:
          event_record(record);
          break;
        case Kind::StreamWait:
          stream_wait(record);
          break;
        case Kind::Operation: {
          Thread& thread = threads_[record.lane()];
          thread.operation_until = std::max(thread.operation_until, record.end());
          break;
        }
        case Kind::Wait:
          threads_[record.lane()].wait_until = record.end();
          threads_[record.lane()].wait_group = trace_.communications[record.detail].group;
          break;
        case Kind::Communication:
          if (timeline_.link[i] == kNone) {
            note_communication(i);
          }
          break;
        case Kind::Kernel:
        case Kind::Copy:
        case Kind::Step:
          break;
      }
    }
    std::sort(edges_.begin(), edges_.end());
    edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
    return std::move(edges_);
  }

 private:
  struct Thread {
    uint32_t compute_stream = kNone;  ///< of the last launch that was no communication
    uint32_t last_stream = kNone;     ///< of the last launch
    bool waited = false;              ///< a stream was told to wait since the last compute launch
    uint32_t guessed = kNone;         ///< what a wait outside of operations was for
    std::vector<uint32_t> awaited;    ///< communications that it waited for since then
    int64_t operation_until = INT64_MIN;
    int64_t wait_until = INT64_MIN;
    uint32_t wait_group = kNone;
  };
  struct Recorded {
    uint32_t stream = kNone;
    uint32_t entry = kNone;  ///< the last one of that stream when the event was recorded
  };

  void add(uint32_t entry, uint32_t depends_on, bool certain = true) {
    if (depends_on == kNone || timeline_[depends_on].lane() == timeline_[entry].lane()) {
      return;
    }
    const Record& record = timeline_[entry];
    const int64_t until = is_sync(record.kind()) ? record.end() : record.start;
    if (edges_.size() == most_) {
      throw sdk::Error(PRISM_STATUS_RESOURCE_EXHAUSTED,
                       "the trace has more than " + std::to_string(most_) +
                           " waits of calls for streams, expected fewer for its events");
    }
    if (timeline_[depends_on].end() <= until && (depends_on < entry || is_sync(record.kind()))) {
      edges_.push_back({entry, depends_on});
    } else if (certain) {
      ++trace_.counts.contradicting;
    }
  }

  void launch(uint32_t call) {
    const uint32_t entry = timeline_.link[call];
    if (entry == kNone) {
      return;
    }
    Thread& thread = threads_[timeline_[call].lane()];
    const uint32_t stream = timeline_[entry].lane();
    for (const uint32_t told : told_[stream]) {
      add(entry, told);
    }
    told_[stream].clear();
    for (const uint32_t awaited : thread.awaited) {
      add(entry, awaited);
    }
    if (timeline_[entry].kind() == Kind::Communication) {
      if (thread.waited && thread.compute_stream != kNone) {
        add(entry, last_[thread.compute_stream]);
      }
      note_communication(entry);
    } else {
      add(entry, thread.guessed, false);
      thread.guessed = kNone;
      thread.awaited.clear();
      thread.waited = false;
      thread.compute_stream = stream;
    }
    thread.last_stream = stream;
    last_[stream] = entry;
  }

  void note_communication(uint32_t entry) {
    last_communication_ = entry;
    const uint32_t group = trace_.communications[timeline_[entry].detail].group;
    if (group != kNone) {
      last_of_group_[group] = entry;
    }
  }

  void event_record(const Record& call) {
    const auto found = recorded_.find(call.correlation);
    if (found != recorded_.end()) {
      found->second.entry = last_[found->second.stream];
    }
  }

  /// What the trace itself says that a call waits for.
  uint32_t awaited_by(const SyncFact& fact) const {
    const auto found = recorded_.find(fact.event_record);
    if (found != recorded_.end() && found->second.entry != kNone) {
      return found->second.entry;
    }
    return fact.awaited == kNone ? kNone : last_[fact.awaited];
  }

  void stream_wait(const Record& call) {
    Thread& thread = threads_[call.lane()];
    thread.waited = true;
    const auto fact = facts_.find(call.correlation);
    if (fact != facts_.end() && fact->second.waiting != kNone) {
      const uint32_t awaited = awaited_by(fact->second);
      if (awaited != kNone) {
        told_[fact->second.waiting].push_back(awaited);
      }
      return;
    }
    if (call.start < thread.wait_until && thread.wait_group != kNone) {
      if (last_of_group_[thread.wait_group] != kNone) {
        thread.awaited.push_back(last_of_group_[thread.wait_group]);
      }
      return;
    }
    if (call.start >= thread.operation_until) {
      thread.guessed = thread.last_stream != kNone && thread.last_stream != thread.compute_stream
                           ? last_[thread.last_stream]
                           : last_communication_;
    }
  }

  void synchronize(uint32_t call) {
    const Record& record = timeline_[call];
    const auto fact = facts_.find(record.correlation);
    if (fact != facts_.end()) {
      const uint32_t awaited = awaited_by(fact->second);
      if (awaited != kNone) {
        return add(call, awaited);
      }
    }
    if (record.kind() == Kind::DeviceSync) {
      for (const uint32_t stream : streams_) {
        add(call, last_[stream]);
      }
      return;
    }
    const uint32_t used = threads_[record.lane()].last_stream;
    uint32_t found = kNone;
    if (record.kind() == Kind::StreamSync && used != kNone &&
        timeline_[last_[used]].end() <= record.end()) {
      found = last_[used];
    } else {
      for (const uint32_t stream : streams_) {
        const uint32_t entry = last_[stream];
        const bool during = entry != kNone && timeline_[entry].end() > record.start &&
                            timeline_[entry].end() <= record.end();
        if (during && (found == kNone || timeline_[entry].end() > timeline_[found].end())) {
          found = entry;
        }
      }
    }
    if (found == kNone) {
      ++trace_.counts.unmatched_syncs;
    }
    add(call, found);
  }

  const uint64_t most_;
  Timeline& timeline_;
  RankTrace& trace_;
  std::vector<uint32_t> streams_;
  std::vector<uint32_t> last_;               ///< by stream: the entry that was launched last
  std::vector<std::vector<uint32_t>> told_;  ///< by stream: what it was told to wait for
  std::vector<Thread> threads_;              ///< by lane
  std::vector<uint32_t> last_of_group_;
  uint32_t last_communication_ = kNone;
  std::unordered_map<uint32_t, SyncFact> facts_;     ///< by correlation of the call
  std::unordered_map<uint32_t, Recorded> recorded_;  ///< by correlation of the recording call
  std::vector<Edge> edges_;
};

}  // namespace

std::vector<Edge> find_waits(Timeline& timeline) {
  return Finder(timeline).find();
}

}  // namespace prism::kineto
