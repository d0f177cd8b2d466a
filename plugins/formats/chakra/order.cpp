// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/chakra/order.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <utility>

#include "prism/sdk/error.hpp"

namespace prism::chakra {
namespace {

constexpr size_t kMostPrinted = 16;  // nodes of a circle

}  // namespace

Needs::Needs(const RankTrace& trace) : trace_(trace), needed_(trace.nodes.size(), false) {
  find_needs(sorted_ids());
  leave_out_circles();
}

std::vector<Needs::Entry> Needs::sorted_ids() const {
  std::vector<Entry> ids;
  ids.reserve(trace_.nodes.size());
  for (const Node& node : trace_.nodes) {
    ids.push_back({node.id, static_cast<uint32_t>(ids.size())});
  }
  const auto before = [](const Entry& a, const Entry& b) {
    return std::pair(a.id, a.position) < std::pair(b.id, b.position);
  };
  if (!std::is_sorted(ids.begin(), ids.end(), before)) {
    std::sort(ids.begin(), ids.end(), before);
  }
  const auto twice = std::adjacent_find(
      ids.begin(), ids.end(), [](const Entry& a, const Entry& b) { return a.id == b.id; });
  if (twice != ids.end()) {
    // The metadata is message 1.
    throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                     trace_.path + ": node id " + std::to_string(twice->id) +
                         " is given twice, in message " + std::to_string(twice->position + 2) +
                         " and in message " + std::to_string(std::next(twice)->position + 2) +
                         "; each node has an id of its own");
  }
  return ids;
}

uint32_t Needs::position_of(uint64_t id, const std::vector<Entry>& ids) {
  const uint64_t offset = id - ids.front().id;  // ids mostly have no gaps
  if (id >= ids.front().id && offset < ids.size() && ids[offset].id == id) {
    return ids[offset].position;
  }
  const auto found = std::lower_bound(
      ids.begin(), ids.end(), id, [](const Entry& entry, uint64_t of) { return entry.id < of; });
  return found == ids.end() || found->id != id ? kNone : found->position;
}

void Needs::find_needs(const std::vector<Entry>& ids) {
  first_.reserve(trace_.nodes.size() + 1);
  first_.push_back(0);
  positions_.reserve(trace_.dependencies.size());
  for (const Node& node : trace_.nodes) {
    const auto own = static_cast<uint32_t>(first_.size() - 1);
    const uint64_t end = node.first_dependency + node.dependency_count;
    for (uint64_t d = node.first_dependency; d < end; ++d) {
      const uint32_t position = position_of(trace_.dependencies[d], ids);
      if (trace_.control[d] && (position == kNone || position == own)) {
        ++without_caller_;
      } else if (position != kNone) {
        positions_.push_back(position);
        control_.push_back(trace_.control[d]);
        needed_[position] = true;
      } else {
        throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                         trace_.place(node) + " depends on node " +
                             std::to_string(trace_.dependencies[d]) +
                             ", which is not in the file; is a part of it missing?");
      }
    }
    first_.push_back(static_cast<uint32_t>(positions_.size()));
  }
}

std::vector<uint32_t> Needs::sorted(Which which, const std::vector<uint64_t>& rank_of) const {
  const auto nodes = static_cast<uint32_t>(trace_.nodes.size());
  // Who needs a node, one after the other: those of node n begin at begin[n].
  std::vector<uint32_t> begin(size_t{nodes} + 1, 0);
  std::vector<uint32_t> missing(nodes, 0);  // by node: needs that have not come
  for (uint32_t node = 0; node < nodes; ++node) {
    for (size_t need = first_[node]; need < first_[node + 1]; ++need) {
      if (counts(need, which)) {
        ++begin[positions_[need] + 1];
        ++missing[node];
      }
    }
  }
  for (size_t i = 1; i < begin.size(); ++i) {
    begin[i] += begin[i - 1];
  }
  std::vector<uint32_t> dependents(begin.back());
  std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
  for (uint32_t node = 0; node < nodes; ++node) {
    for (size_t need = first_[node]; need < first_[node + 1]; ++need) {
      if (counts(need, which)) {
        dependents[next[positions_[need]]++] = node;
      }
    }
  }
  using Ready = std::pair<uint64_t, uint32_t>;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  for (uint32_t node = 0; node < nodes; ++node) {
    if (missing[node] == 0) {
      ready.emplace(rank_of[node], node);
    }
  }
  std::vector<uint32_t> order;
  order.reserve(nodes);
  while (!ready.empty()) {
    const uint32_t node = ready.top().second;
    ready.pop();
    order.push_back(node);
    for (uint32_t d = begin[node]; d < begin[node + 1]; ++d) {
      if (--missing[dependents[d]] == 0) {
        ready.emplace(rank_of[dependents[d]], dependents[d]);
      }
    }
  }
  return order;
}

void Needs::leave_out_circles() {
  std::vector<uint64_t> ids;
  ids.reserve(trace_.nodes.size());
  for (const Node& node : trace_.nodes) {
    ids.push_back(node.id);
  }
  if (sorted(Which::All, ids).size() == ids.size()) {
    return;
  }
  const std::vector<uint32_t> order = sorted(Which::Data, ids);
  if (order.size() < ids.size()) {
    fail_in_circle(order);
  }
  leave_out_against(order);
}

void Needs::leave_out_against(const std::vector<uint32_t>& order) {
  std::vector<uint32_t> place(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
  }
  std::vector<uint32_t> kept;
  std::vector<bool> control;
  kept.reserve(positions_.size());
  control.reserve(positions_.size());
  std::fill(needed_.begin(), needed_.end(), false);
  size_t need = 0;
  for (uint32_t node = 0; node < order.size(); ++node) {
    for (; need < first_[node + 1]; ++need) {
      if (place[positions_[need]] < place[node]) {
        kept.push_back(positions_[need]);
        control.push_back(control_[need]);
        needed_[positions_[need]] = true;
      } else {
        ++against_order_;
      }
    }
    first_[node + 1] = static_cast<uint32_t>(kept.size());
  }
  positions_ = std::move(kept);
  control_ = std::move(control);
}

/// Of the nodes that did not come, each needs another such one: who follows them gets into a
/// circle.
void Needs::fail_in_circle(const std::vector<uint32_t>& order) const {
  const auto earlier = [&](uint32_t a, uint32_t b) {
    return trace_.nodes[a].id < trace_.nodes[b].id;
  };
  std::vector<bool> stuck(trace_.nodes.size(), true);
  for (const uint32_t node : order) {
    stuck[node] = false;
  }
  uint32_t at = kNone;
  for (uint32_t node = 0; node < stuck.size(); ++node) {
    if (stuck[node] && (at == kNone || earlier(node, at))) {
      at = node;
    }
  }
  std::vector<uint32_t> step(stuck.size(), kNone);  // by node: at which it was passed
  std::vector<uint32_t> path;
  while (step[at] == kNone) {
    step[at] = static_cast<uint32_t>(path.size());
    path.push_back(at);
    size_t need = first_[at];
    while (control_[need] || !stuck[positions_[need]]) {
      ++need;
    }
    at = positions_[need];
  }
  path.erase(path.begin(), path.begin() + step[at]);
  std::rotate(path.begin(), std::min_element(path.begin(), path.end(), earlier), path.end());
  std::string text;
  for (size_t i = 0; i < std::min(path.size(), kMostPrinted); ++i) {
    text += std::to_string(trace_.nodes[path[i]].id) + " -> ";
  }
  if (path.size() > kMostPrinted) {
    text += "... (" + std::to_string(path.size()) + " nodes) -> ";
  }
  throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                   trace_.path + ": nodes depend on each other in a circle: " + text +
                       std::to_string(trace_.nodes[path.front()].id));
}

}  // namespace prism::chakra
