// SPDX-License-Identifier: Apache-2.0
/// Arrows between ranks: from whoever was late for a collective to those that waited, and from
/// sends to receives. Keeps some 40 bytes per communication, nothing of the others.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "plugins/formats/perfetto/events.hpp"
#include "prism/sdk/format.hpp"

namespace prism::perfetto {

class Arrows {
 public:
  /// Nodes that are added from now on are of `rank`, in their order.
  void begin_rank(uint32_t rank, const std::vector<sdk::TraceCommunicator>& communicators);
  void add(const sdk::ReplayedNode& node);
  void write(Events& events) const;

 private:
  struct Slice {
    uint32_t rank = 0;
    uint32_t lane = 0;
    int64_t arrival_ns = 0;
    int64_t start_ns = 0;
    int64_t end_ns = 0;
  };
  /// Communicator, sender, receiver, tag, n-th.
  using MessageKey = std::tuple<uint32_t, uint32_t, uint32_t, int32_t, uint64_t>;

  static void draw(Events& events, const Slice& from, const Slice& to);

  std::map<std::string, uint32_t> known_;  // communicators of all ranks, by what they are
  std::map<std::pair<uint32_t, int64_t>, std::vector<Slice>> collectives_;
  std::map<MessageKey, Slice> sends_;
  std::map<MessageKey, Slice> recvs_;

  // Of the present rank.
  uint32_t rank_ = 0;
  std::vector<uint32_t> communicators_;  // numbers in known_
  std::vector<std::vector<uint32_t>> ranks_;
  std::map<uint32_t, int64_t> next_sequence_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, int32_t, bool>, uint64_t> next_message_;
};

}  // namespace prism::perfetto
