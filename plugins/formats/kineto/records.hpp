// SPDX-License-Identifier: Apache-2.0
/// What of one rank's trace is kept while it is read: 24 bytes for each event that matters.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plugins/formats/kineto/communication.hpp"
#include "plugins/formats/kineto/names.hpp"

namespace prism::kineto {

inline constexpr uint32_t kNone = 0xffffffff;

enum class Kind : uint8_t {
  Kernel,         ///< on the device; detail: name
  Copy,           ///< on the device: memcpy, memset; detail: name
  Communication,  ///< on the device: a kernel of NCCL; detail: into RankTrace::communications
  Launch,         ///< on a thread: call that gives work to the device; detail: name
  StreamSync,     ///< on a thread: waits for a stream; detail: name
  EventSync,
  DeviceSync,
  EventRecord,  ///< on a thread; no node
  StreamWait,   ///< on a thread: a stream shall wait for an event; no node
  Operation,    ///< on a thread: span of a collective, send, recv; detail: as Communication
  Wait,         ///< on a thread: span of waiting for a collective; detail: as Communication
  Step,         ///< on a thread: a ProfilerStep; detail: its number
};

inline bool on_device(Kind kind) {
  return kind <= Kind::Communication;
}
inline bool is_sync(Kind kind) {
  return kind >= Kind::StreamSync && kind <= Kind::DeviceSync;
}

/// Times in ns as the trace has them (baseTimeNanoseconds not added).
struct Record {
  static constexpr uint32_t kLanes = 1 << 12;
  static constexpr uint32_t kStreams = 1 << 9;
  static constexpr int64_t kLongest = (int64_t{1} << 48) - 1;  ///< three days

  int64_t start = 0;
  uint64_t packed = 0;  ///< duration, lane, kind: sorting moves many of these
  uint32_t correlation = kNone;
  uint32_t detail = 0;

  Record() = default;
  Record(Kind kind, uint32_t lane, int64_t start_ns, int64_t duration_ns, uint32_t of_detail)
      : start(start_ns),
        packed(static_cast<uint64_t>(duration_ns) << 16 | uint64_t{lane} << 4 |
               static_cast<uint64_t>(kind)),
        detail(of_detail) {}

  int64_t duration() const { return static_cast<int64_t>(packed >> 16); }
  int64_t end() const { return start + duration(); }
  uint32_t lane() const { return static_cast<uint32_t>(packed >> 4) & (kLanes - 1); }
  Kind kind() const { return static_cast<Kind>(packed & 0xf); }
  void set_span(int64_t start_ns, int64_t end_ns) {
    start = start_ns;
    packed = (packed & 0xffff) | static_cast<uint64_t>(end_ns - start_ns) << 16;
  }
};
static_assert(sizeof(Record) == 24);

struct Lane {
  bool device = false;
  int64_t number = 0;     ///< of the stream or thread
  int64_t gpu = 0;        ///< of a stream
  bool autograd = false;  ///< of a thread: runs backward operations
  uint64_t calls = 0;     ///< of a thread: launches and synchronizations
};

enum class Phase : uint8_t { None, Forward, Backward, Optimizer };
std::string_view to_string(Phase phase);

/// A user's annotation whose name says what it is.
struct Annotation {
  uint32_t lane = 0;
  int64_t start = 0;
  int64_t end = 0;
  Phase phase = Phase::None;
  int32_t micro_batch = -1;
};

/// What newer traces say of a synchronization ("cuda_sync"): lanes, or kNone.
struct SyncFact {
  uint32_t correlation = kNone;   ///< of the call
  uint32_t waiting = kNone;       ///< the stream that waits; none: the thread does
  uint32_t awaited = kNone;       ///< the stream that is waited for
  uint32_t event_record = kNone;  ///< correlation of the call that recorded the event
};

/// Moment at which a thread began an operation of the forward pass that has a backward.
struct ForwardMark {
  uint32_t lane = 0;
  int64_t at = 0;
};

/// How often something was met that the user should know of.
struct Counts {
  uint64_t foreign_words = 0;
  uint64_t negative_durations = 0;
  uint64_t overlapping = 0;
  uint64_t without_launch = 0;
  uint64_t before_launch = 0;
  uint64_t contradicting = 0;
  uint64_t unknown_group = 0;
  uint64_t unknown_operation = 0;
  uint64_t unknown_size = 0;
  uint64_t unmatched_syncs = 0;
  uint64_t queued = 0;
  uint64_t gloo = 0;
};

struct RankTrace {
  std::optional<uint32_t> rank;  ///< distributedInfo
  uint64_t world_size = 0;       ///< 0: unknown
  int64_t base_ns = 0;
  std::map<std::string, std::vector<uint32_t>> group_ranks;  ///< pg_config: by name

  std::deque<Record> records;  // grows without being moved
  std::vector<Lane> lanes;
  Names names;
  GroupTable groups;
  CommunicationTable communications;
  std::vector<Annotation> annotations;
  std::vector<ForwardMark> forward_marks;
  std::vector<SyncFact> sync_facts;
  Counts counts;

  /// The lane of a stream of a GPU, or of a thread; made when it is new.
  uint32_t stream(int64_t gpu, int64_t number) { return lane(true, gpu, number); }
  uint32_t thread(int64_t number) { return lane(false, 0, number); }

 private:
  uint32_t lane(bool device, int64_t gpu, int64_t number);
  std::map<std::tuple<bool, int64_t, int64_t>, uint32_t> lane_index_;
  uint32_t last_lane_ = kNone;
  uint32_t streams_ = 0;
};

}  // namespace prism::kineto
