// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/kineto/timeline.hpp"

#include <algorithm>
#include <utility>

namespace prism::kineto {
namespace {

/// At one moment: the device before the threads, short entries of a stream before long ones, outer
/// spans of a thread before inner ones.
bool before(const Record& a, const Record& b) {
  if (a.start != b.start) {
    return a.start < b.start;
  }
  const bool device = on_device(a.kind());
  if (device != on_device(b.kind())) {
    return device;
  }
  if (a.duration() != b.duration()) {
    return (a.duration() < b.duration()) == device;
  }
  return std::pair(a.packed, a.correlation) < std::pair(b.packed, b.correlation);
}

/// Entries of a stream run one after the other; clocks that were read apart say otherwise at times.
uint64_t untangle(RankTrace& trace) {
  std::vector<int64_t> free_at(trace.lanes.size(), INT64_MIN);
  uint64_t moved = 0;
  for (Record& record : trace.records) {
    if (!on_device(record.kind())) {
      continue;
    }
    int64_t& free = free_at[record.lane()];
    if (record.start < free) {
      record.set_span(free, std::max(free, record.end()));
      ++moved;
    }
    free = record.end();
  }
  return moved;
}

using Call = std::pair<uint32_t, uint32_t>;  // correlation, record

std::vector<Call> launches(const RankTrace& trace) {
  std::vector<Call> calls;
  uint32_t index = 0;
  for (const Record& record : trace.records) {
    if (record.kind() == Kind::Launch && record.correlation != kNone) {
      calls.emplace_back(record.correlation, index);
    }
    ++index;
  }
  std::sort(calls.begin(), calls.end());
  return calls;
}

}  // namespace

Timeline make_timeline(RankTrace& trace) {
  std::sort(trace.records.begin(), trace.records.end(), before);
  trace.counts.overlapping = untangle(trace);
  if (trace.counts.overlapping > 0) {
    std::sort(trace.records.begin(), trace.records.end(), before);
  }
  Timeline timeline{trace, std::vector<uint32_t>(trace.records.size(), kNone)};
  const std::vector<Call> calls = launches(trace);
  for (uint32_t i = 0; i < timeline.size(); ++i) {
    const Record& entry = timeline[i];
    if (!on_device(entry.kind())) {
      continue;
    }
    const auto first = std::lower_bound(calls.begin(), calls.end(), Call(entry.correlation, 0));
    // Calls are in order of time: the last one that had begun.
    const auto behind = std::upper_bound(calls.begin(), calls.end(), Call(entry.correlation, i));
    if (first == calls.end() || first->first != entry.correlation) {
      ++trace.counts.without_launch;
      continue;
    }
    if (behind == first) {
      ++trace.counts.before_launch;
      continue;
    }
    auto call = behind - 1;
    // The driver's call within the runtime's has the same number.
    while (call != first && timeline[(call - 1)->second].lane() == timeline[call->second].lane() &&
           timeline[(call - 1)->second].end() >= timeline[call->second].end()) {
      --call;
    }
    timeline.link[i] = call->second;
    if (timeline.link[call->second] == kNone) {
      timeline.link[call->second] = i;
    }
  }
  return timeline;
}

}  // namespace prism::kineto
