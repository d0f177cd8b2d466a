// SPDX-License-Identifier: Apache-2.0
/// Events to nodes: steps one after the other, messages of the same span as one batch, lanes.
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "job.hpp"

#include "prism/abi/draft/format.h"
#include "prism/sdk/error.hpp"

namespace prism::microbatch {
namespace {

constexpr int64_t kLatest = std::numeric_limits<int64_t>::max() / 4;

/// Where the events of a step go. Steps were sampled, and what lies between two of them is not in
/// the file (the CSV begins each at 0): one follows the other without a gap.
struct Step {
  FineTime first;
  FineTime last;
  int64_t origin_ns = 0;
  int32_t iteration = 0;
};

std::map<int64_t, Step> place_steps(Job& job) {
  std::map<int64_t, Step> steps;
  for (const Event& event : job.trace.events) {
    const auto [step, fresh] = steps.insert({event.step, {event.start, event.end, 0, 0}});
    step->second.first = std::min(step->second.first, event.start);
    step->second.last = std::max(step->second.last, event.end);
  }
  int64_t origin = 0;
  for (auto& [number, step] : steps) {
    step.origin_ns = origin;
    step.iteration = static_cast<int32_t>(job.steps.size());
    job.steps.push_back(number);
    const int64_t span = (step.last - step.first).rounded();
    if (span > kLatest - origin) {
      throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                       job.trace.path + ": step " + std::to_string(number) + " lasts " +
                           std::to_string(span / 1'000'000'000) + " s; seconds were expected");
    }
    origin += span;
  }
  return steps;
}

/// "forward-send+backward-recv": kinds of messages have lanes of their own, as they may run beside
/// each other; messages of one batch cannot.
std::string lane_name(const Job& job, const Node& node) {
  std::string joined;
  for (const Part& part : node.parts) {
    joined += (joined.empty() ? "" : "+") + std::string(job.operation(part.operation).name);
  }
  if (!joined.empty()) {
    return joined;
  }
  const Operation& operation = job.operation(node.operation);
  return std::string(operation.own_lane ? operation.name : "compute");
}

class RankNodes {
 public:
  RankNodes(const Job& job, Program& program) : job_(job), program_(program) {}

  void add(const Event& event, const Step& step) {
    const bool message = is_message(job_.operation(event.operation));
    const Part part{event.operation, kNone, kNone, -1, -1, event.place};
    if (message && joins_last(event)) {
      program_.nodes.back().parts.push_back(part);
      return;
    }
    finish_last();
    last_ = &event;
    Node node;
    node.operation = event.operation;
    node.iteration = step.iteration;
    node.micro_batch = event.micro_batch;
    node.chunk = event.chunk;
    node.start_ns = step.origin_ns + (event.start - step.first).rounded();
    node.end_ns = step.origin_ns + (event.end - step.first).rounded();
    node.place = event.place;
    if (message) {
      node.parts.push_back(part);
    }
    program_.nodes.push_back(std::move(node));
  }

  /// The last node has all its parts: gives it its lane.
  void finish_last() {
    if (program_.nodes.empty() || last_ == nullptr) {
      return;
    }
    Node& node = program_.nodes.back();
    const std::string name = lane_name(job_, node);
    // Nodes that really overlap get one more lane.
    for (uint32_t n = 1;; ++n) {
      Lane& lane = lane_of(n == 1 ? name : name + " " + std::to_string(n), name, node);
      if (lane.end_ns - node.start_ns <= kNoiseNs) {
        if (lane.end_ns > node.start_ns) {
          ++clipped_;
        }
        node.start_ns = std::max(node.start_ns, lane.end_ns);
        node.end_ns = std::max(node.end_ns, node.start_ns);
        lane.end_ns = node.end_ns;
        return;
      }
    }
  }

  uint64_t clipped() const { return clipped_; }

 private:
  bool joins_last(const Event& event) const {
    return last_ != nullptr && is_message(job_.operation(last_->operation)) &&
           last_->step == event.step && last_->start == event.start && last_->end == event.end;
  }

  Lane& lane_of(const std::string& name, const std::string& kind, Node& node) {
    const auto [known, fresh] = lanes_.insert({name, static_cast<uint32_t>(program_.lanes.size())});
    if (fresh) {
      program_.lanes.push_back(
          {name, kind == "compute" ? PRISM_LANE_STREAM : PRISM_LANE_COMM, node.start_ns});
    }
    node.lane = known->second;
    return program_.lanes[known->second];
  }

  const Job& job_;
  Program& program_;
  const Event* last_ = nullptr;
  std::map<std::string, uint32_t> lanes_;
  uint64_t clipped_ = 0;
};

}  // namespace

void make_nodes(Job& job) {
  const std::map<int64_t, Step> steps = place_steps(job);
  job.programs.resize(job.trace.workers.size());
  uint64_t clipped = 0;
  size_t i = 0;
  for (uint32_t worker = 0; worker < job.programs.size(); ++worker) {
    RankNodes nodes(job, job.programs[worker]);
    for (; i < job.trace.events.size() && job.trace.events[i].worker == worker; ++i) {
      nodes.add(job.trace.events[i], steps.at(job.trace.events[i].step));
    }
    nodes.finish_last();
    clipped += nodes.clipped();
  }
  if (clipped > 0) {
    job.notes.push_back(std::to_string(clipped) +
                        " operations began before the one before them on their lane had ended, by "
                        "at most 50 us of clock noise: they begin at its end");
  }
}

}  // namespace prism::microbatch
