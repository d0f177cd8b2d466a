// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/perfetto/arrows.hpp"

#include <algorithm>

namespace prism::perfetto {

void Arrows::begin_rank(uint32_t rank, const std::vector<sdk::TraceCommunicator>& communicators) {
  rank_ = rank;
  communicators_.clear();
  ranks_.clear();
  next_sequence_.clear();
  next_message_.clear();
  std::map<std::string, uint32_t> created;
  for (const sdk::TraceCommunicator& communicator : communicators) {
    std::string what = communicator.description + '\0' + communicator.backend;
    for (const uint32_t member : communicator.ranks) {
      what += '\0' + std::to_string(member);
    }
    what += '\0' + std::to_string(created[what]++);  // the n-th of its kind
    communicators_.push_back(
        known_.insert({what, static_cast<uint32_t>(known_.size())}).first->second);
    ranks_.push_back(communicator.ranks);
  }
}

void Arrows::add(const sdk::ReplayedNode& replayed) {
  const sdk::TraceNode& node = replayed.node;
  const Slice slice{rank_, node.lane, replayed.arrival_ns, node.start_ns, node.end_ns};
  if (node.parts.empty() && node.communicator < communicators_.size()) {
    const uint32_t communicator = communicators_[node.communicator];
    int64_t& next = next_sequence_[communicator];
    const int64_t sequence = node.sequence >= 0 ? node.sequence : next;
    next = sequence + 1;
    collectives_[{communicator, sequence}].push_back(slice);
  }
  for (const prism_trace_part_t& part : node.parts) {
    if (part.peer < 0) {
      continue;  // who sent to "any" the reader does not say
    }
    const bool sends = part.kind == PRISM_COMM_SEND;
    const uint32_t communicator = communicators_.at(part.communicator);
    const uint32_t peer = ranks_[part.communicator].at(static_cast<size_t>(part.peer));
    const uint32_t from = sends ? rank_ : peer;
    const uint32_t to = sends ? peer : rank_;
    const uint64_t n = next_message_[{communicator, from, to, part.tag, sends}]++;
    (sends ? sends_ : recvs_)[{communicator, from, to, part.tag, n}] = slice;
  }
}

void Arrows::write(Events& events) const {
  for (const auto& [key, members] : collectives_) {
    const auto late = std::max_element(
        members.begin(), members.end(),
        [](const Slice& a, const Slice& b) { return a.arrival_ns < b.arrival_ns; });
    for (const Slice& member : members) {
      // Only when the rank that everybody waited for is exported.
      if (member.arrival_ns < late->arrival_ns && member.start_ns == late->arrival_ns) {
        draw(events, *late, member);
      }
    }
  }
  for (const auto& [key, recv] : recvs_) {
    if (const auto send = sends_.find(key); send != sends_.end()) {
      draw(events, send->second, recv);
    }
  }
}

/// The last nanosecond is still inside the slice, its end is not.
void Arrows::draw(Events& events, const Slice& from, const Slice& to) {
  events.arrow({from.rank, from.lane, from.arrival_ns},
               {to.rank, to.lane, std::max(to.arrival_ns, to.end_ns - 1)}, "communication");
}

}  // namespace prism::perfetto
