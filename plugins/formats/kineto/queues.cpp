// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/kineto/queues.hpp"

#include <algorithm>

namespace prism::kineto {
namespace {

constexpr int64_t kUnexplained = 50'000;  // ns: no launch takes as long to reach a free device
constexpr int64_t kAtOnce = 10'000;       // ns

class Finder {
 public:
  Finder(const Timeline& timeline, const std::vector<Edge>& waits)
      : timeline_(timeline),
        waits_(waits),
        last_(timeline.trace.lanes.size(), kNone),
        ended_(last_) {
    for (uint32_t lane = 0; lane < last_.size(); ++lane) {
      if (timeline.trace.lanes[lane].device) {
        streams_.push_back(lane);
      }
    }
  }

  std::vector<Edge> find() {
    std::vector<Edge> found;
    for (uint32_t i = 0; i < timeline_.size(); ++i) {
      const Record& entry = timeline_[i];
      if (!on_device(entry.kind())) {
        continue;
      }
      if (timeline_.link[i] != kNone && entry.start - ready(i) > kUnexplained) {
        const uint32_t cause = cause_of(i);
        if (cause != kNone) {
          found.push_back({i, cause});
        }
      }
      ended_[entry.lane()] = last_[entry.lane()];
      last_[entry.lane()] = i;
    }
    return found;
  }

 private:
  int64_t ready(uint32_t entry) const {
    int64_t at = timeline_[timeline_.link[entry]].end();
    const uint32_t previous = last_[timeline_[entry].lane()];
    if (previous != kNone) {
      at = std::max(at, timeline_[previous].end());
    }
    for (auto wait = std::lower_bound(waits_.begin(), waits_.end(), Edge{entry, 0});
         wait != waits_.end() && wait->record == entry; ++wait) {
      at = std::max(at, timeline_[wait->depends_on].end());
    }
    return at;
  }

  uint32_t cause_of(uint32_t entry) const {
    const Record& record = timeline_[entry];
    uint32_t cause = kNone;
    for (const uint32_t stream : streams_) {
      const bool runs = last_[stream] != kNone && timeline_[last_[stream]].end() > record.start;
      const uint32_t other = runs ? ended_[stream] : last_[stream];
      if (other == kNone || stream == record.lane() ||
          timeline_.link[other] >= timeline_.link[entry]) {
        continue;
      }
      const int64_t end = timeline_[other].end();
      if (end <= record.start && end > record.start - kAtOnce &&
          (cause == kNone || end > timeline_[cause].end())) {
        cause = other;
      }
    }
    return cause;
  }

  const Timeline& timeline_;
  const std::vector<Edge>& waits_;
  std::vector<uint32_t> last_;   ///< by stream: the entry that began last
  std::vector<uint32_t> ended_;  ///< the one before it
  std::vector<uint32_t> streams_;
};

}  // namespace

void add_queue_waits(Timeline& timeline, std::vector<Edge>& waits) {
  const std::vector<Edge> found = Finder(timeline, waits).find();
  timeline.trace.counts.queued = found.size();
  waits.insert(waits.end(), found.begin(), found.end());
  std::sort(waits.begin(), waits.end());
}

}  // namespace prism::kineto
