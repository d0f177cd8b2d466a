// SPDX-License-Identifier: Apache-2.0
#include "trace.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "prism/sdk/error.hpp"

namespace prism::microbatch {
namespace {

// Together they bound the memory: about 250 bytes an event, once it is a node too.
constexpr size_t kMostEvents = 4'000'000;
constexpr size_t kMostOperations = 256;

auto place_in_step(const Event& e) {
  return std::tie(e.worker, e.step, e.start, e.end, e.operation, e.sequence);
}

}  // namespace

std::string Trace::where(uint32_t place) const {
  return json ? path + ": event " + std::to_string(place) : path + ":" + std::to_string(place);
}

void Trace::add(const Event& event) {
  if (events.size() == kMostEvents) {
    throw sdk::Error(PRISM_STATUS_RESOURCE_EXHAUSTED,
                     where(event.place) + ": more than " + std::to_string(kMostEvents) +
                         " operations; take fewer steps of the job");
  }
  events.push_back(event);
}

uint32_t Trace::operation(std::string_view name, uint32_t place) {
  const auto known = std::find(operations.begin(), operations.end(), name);
  if (known != operations.end()) {
    return static_cast<uint32_t>(known - operations.begin());
  }
  const bool printable = std::none_of(name.begin(), name.end(), is_control);
  if (name.empty() || !printable || operations.size() == kMostOperations) {
    throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                     where(place) + ": '" + shown(name) +
                         "' is no kind of operation; forward-compute, for example, was expected");
  }
  operations.emplace_back(name);
  return static_cast<uint32_t>(operations.size() - 1);
}

void Trace::finish() {
  if (events.empty()) {
    throw sdk::Error(PRISM_STATUS_DATA_LOSS,
                     path + ": holds no operation; forward-compute and others were expected");
  }
  order_operations();
  order_workers();
  check_grid();
  order_events();
}

/// By name, so that nothing depends on which comes first in the file.
void Trace::order_operations() {
  std::vector<std::string> ordered = operations;
  std::sort(ordered.begin(), ordered.end());
  for (Event& event : events) {
    event.operation = static_cast<uint32_t>(
        std::lower_bound(ordered.begin(), ordered.end(), operations[event.operation]) -
        ordered.begin());
  }
  operations = std::move(ordered);
}

void Trace::order_workers() {
  std::vector<uint32_t> order(workers.size());
  std::iota(order.begin(), order.end(), uint32_t{0});
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return workers[a].number < workers[b].number; });
  std::vector<Worker> ordered;
  std::vector<uint32_t> position(workers.size());
  for (const uint32_t worker : order) {
    position[worker] = static_cast<uint32_t>(ordered.size());
    ordered.push_back(workers[worker]);
  }
  workers = std::move(ordered);
  for (Event& event : events) {
    event.worker = position[event.worker];
  }
  std::map<std::pair<int32_t, int32_t>, int32_t> peers;
  for (Worker& worker : workers) {
    worker.tensor = peers[{worker.stage, worker.data}]++;
  }
}

void Trace::check_grid() const {
  Worker most;
  std::set<std::tuple<int32_t, int32_t, int32_t>> cells;
  for (const Worker& worker : workers) {
    most.stage = std::max(most.stage, worker.stage);
    most.data = std::max(most.data, worker.data);
    most.tensor = std::max(most.tensor, worker.tensor);
    cells.insert({worker.stage, worker.data, worker.tensor});
  }
  for (int32_t stage = 0; stage <= most.stage; ++stage) {
    for (int32_t data = 0; data <= most.data; ++data) {
      for (int32_t tensor = 0; tensor <= most.tensor; ++tensor) {
        if (!cells.contains({stage, data, tensor})) {
          throw sdk::Error(PRISM_STATUS_DATA_LOSS,
                           path + ": has no rank of stage " + std::to_string(stage) +
                               " and data-parallel rank " + std::to_string(data) +
                               (most.tensor > 0 ? ", number " + std::to_string(tensor) : "") +
                               ", but ranks of higher ones; is the file cut?");
        }
      }
    }
  }
}

void Trace::order_events() {
  std::sort(events.begin(), events.end(),
            [](const Event& a, const Event& b) { return place_in_step(a) < place_in_step(b); });
  std::map<std::pair<uint32_t, int32_t>, uint32_t> seen;  // of one worker and step
  for (size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    if (i == 0 || event.worker != events[i - 1].worker || event.step != events[i - 1].step) {
      seen.clear();
    }
    const bool same = i > 0 && place_in_step(event) == place_in_step(events[i - 1]);
    const auto [first, fresh] = seen.insert({{event.operation, event.sequence}, event.place});
    if (same || (event.sequence >= 0 && !fresh)) {
      throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                       where(std::max(event.place, first->second)) + ": " +
                           operations[event.operation] + " number " +
                           std::to_string(event.sequence) + " of step " +
                           std::to_string(event.step) + " and rank " +
                           std::to_string(workers[event.worker].number) + " was told before, in " +
                           where(std::min(event.place, first->second)));
    }
  }
}

}  // namespace prism::microbatch
