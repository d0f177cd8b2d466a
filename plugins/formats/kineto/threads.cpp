// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/kineto/threads.hpp"

#include <algorithm>

namespace prism::kineto {
namespace {

uint32_t main_thread(const std::vector<Lane>& lanes) {
  uint32_t main = kNone;
  for (uint32_t i = 0; i < lanes.size(); ++i) {
    const bool thread = !lanes[i].device && !lanes[i].autograd && lanes[i].calls > 0;
    if (thread && (main == kNone || lanes[i].calls > lanes[main].calls)) {
      main = i;
    }
  }
  return main;
}

}  // namespace

Handovers find_handovers(const Timeline& timeline) {
  const std::vector<Lane>& lanes = timeline.trace.lanes;
  const uint32_t main = main_thread(lanes);
  Handovers handovers;
  uint32_t last = kNone;  // call
  for (uint32_t i = 0; i < timeline.size(); ++i) {
    const Record& call = timeline[i];
    if (call.kind() != Kind::Launch && !is_sync(call.kind())) {
      continue;
    }
    if (call.lane() != main && !lanes[call.lane()].autograd) {
      continue;
    }
    if (last != kNone && timeline[last].lane() != call.lane() &&
        timeline[last].end() <= call.start) {
      handovers.emplace(i, timeline[last].lane());
    }
    if (last == kNone || timeline[last].lane() != call.lane() ||
        timeline[last].end() <= call.end()) {
      last = i;
    }
  }
  return handovers;
}

Phases::Phases(const Timeline& timeline, const Handovers& handovers)
    : lanes_(timeline.trace.lanes.size()) {
  for (const kineto::Lane& lane : timeline.trace.lanes) {
    autograd_.push_back(lane.autograd);
  }
  flatten(timeline.trace);
  find_forward(timeline, handovers);
}

void Phases::flatten(const RankTrace& trace) {
  std::vector<Annotation> sorted = trace.annotations;
  std::sort(sorted.begin(), sorted.end(), [](const Annotation& a, const Annotation& b) {
    return std::tuple(a.lane, a.start, b.end) < std::tuple(b.lane, b.start, a.end);
  });
  struct Open {
    int64_t end;
    Label label;
  };
  std::vector<Open> open;
  uint32_t lane = kNone;
  const auto close_until = [&](int64_t now) {
    while (!open.empty() && open.back().end <= now) {
      const int64_t end = open.back().end;
      open.pop_back();
      lanes_[lane].segments.push_back({end, open.empty() ? Label{} : open.back().label});
    }
  };
  for (const Annotation& annotation : sorted) {
    close_until(annotation.lane == lane ? annotation.start : INT64_MAX);
    lane = annotation.lane;
    Label label{annotation.phase, annotation.micro_batch};
    if (!open.empty()) {
      const Label& outer = open.back().label;
      label.phase = label.phase == Phase::None ? outer.phase : label.phase;
      label.micro_batch = label.micro_batch < 0 ? outer.micro_batch : label.micro_batch;
    }
    lanes_[lane].segments.push_back({annotation.start, label});
    open.push_back({annotation.end, label});
  }
  close_until(INT64_MAX);
  for (Lane& each : lanes_) {
    std::stable_sort(each.segments.begin(), each.segments.end(),
                     [](const Segment& a, const Segment& b) { return a.start < b.start; });
  }
}

void Phases::find_forward(const Timeline& timeline, const Handovers& handovers) {
  for (const auto& [call, from] : handovers) {
    // Both ends of the stretch in which the other thread ran.
    lanes_[from].borders.push_back(timeline[call].start);
    lanes_[timeline[call].lane()].borders.push_back(timeline[call].start);
  }
  for (const Annotation& annotation : timeline.trace.annotations) {
    if (annotation.phase == Phase::Optimizer) {
      lanes_[annotation.lane].borders.push_back(annotation.start);
      lanes_[annotation.lane].borders.push_back(annotation.end);
    }
  }
  for (Lane& lane : lanes_) {
    std::sort(lane.borders.begin(), lane.borders.end());
    lane.forward.assign(lane.borders.size() + 1, false);
  }
  for (const ForwardMark& mark : timeline.trace.forward_marks) {
    Lane& lane = lanes_[mark.lane];
    const auto border = std::upper_bound(lane.borders.begin(), lane.borders.end(), mark.at);
    lane.forward[static_cast<size_t>(border - lane.borders.begin())] = true;
  }
}

Phases::Label Phases::at(uint32_t lane, int64_t time) const {
  const Lane& known = lanes_[lane];
  const auto behind =
      std::upper_bound(known.segments.begin(), known.segments.end(), time,
                       [](int64_t at, const Segment& segment) { return at < segment.start; });
  Label label = behind == known.segments.begin() ? Label{} : (behind - 1)->label;
  if (label.phase == Phase::None && autograd_[lane]) {
    label.phase = Phase::Backward;
  }
  if (label.phase == Phase::None) {
    const auto border = std::upper_bound(known.borders.begin(), known.borders.end(), time);
    if (known.forward[static_cast<size_t>(border - known.borders.begin())]) {
      label.phase = Phase::Forward;
    }
  }
  return label;
}

Steps::Steps(const Timeline& timeline) {
  for (const Record& record : timeline.trace.records) {
    if (record.kind() == Kind::Step) {
      steps_.push_back({record.start, record.end(), static_cast<int32_t>(record.detail)});
    }
  }
}

int32_t Steps::at(int64_t time) const {
  const auto behind =
      std::upper_bound(steps_.begin(), steps_.end(), time,
                       [](int64_t at, const Step& step) { return at < step.start; });
  return behind != steps_.begin() && time < (behind - 1)->end ? (behind - 1)->number : -1;
}

}  // namespace prism::kineto
