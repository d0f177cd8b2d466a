// SPDX-License-Identifier: Apache-2.0
/// Which send belongs to which recv.
///
/// A message of a communicator has the key (source, destination, tag, n), n counting in the order
/// of the program; the backend "nccl" knows no tag. Ranks of a class share their endpoints, so the
/// n-th messages of a channel are found through two short lists.
///
/// A recv from any source belongs to a mailbox (communicator, destination, tag); which send it
/// gets is decided at replay, when the arrivals are known.
#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/job.hpp"

namespace prism::graph {

/// All messages of a program with one peer in one direction and with one tag.
struct Endpoint {
  Kind kind = Kind::Send;       ///< Send or Recv
  uint32_t slot = 0;            ///< index into Program::communicators
  int32_t peer = 0;             ///< group position at the representative, or kAnySource
  int32_t tag = 0;              ///< 0 for nccl
  std::vector<uint32_t> parts;  ///< indices into Program::parts; n is the place in this list
};

struct ClassMessages {
  std::vector<Endpoint> endpoints;
  std::vector<uint32_t> endpoint_of_part;
  std::vector<uint32_t> nth_of_part;
  std::vector<uint32_t> node_of_part;
};

struct Channel {
  uint32_t communicator = 0;
  Rank source = 0;
  Rank destination = 0;
  int32_t tag = 0;
  uint32_t sender = kNone;    ///< endpoint of the source's class; kNone: it never sends
  uint32_t receiver = kNone;  ///< endpoint of the destination's class; kNone: see `mailbox`
  uint32_t mailbox = kNone;   ///< the destination receives from any source
};

struct Mailbox {
  uint32_t communicator = 0;
  Rank destination = 0;
  int32_t tag = 0;
  uint32_t receiver = kNone;  ///< endpoint of the destination's class
};

struct Messages {
  std::vector<ClassMessages> classes;
  std::vector<Channel> channels;
  std::vector<Mailbox> mailboxes;
  std::vector<uint64_t> first_endpoint;  ///< by rank: where its endpoints begin in `table`
  std::vector<uint32_t> table;           ///< by endpoint: its channel; its mailbox for kAnySource

  uint32_t channel_or_mailbox(Rank rank, uint32_t endpoint) const {
    return table[first_endpoint[rank] + endpoint];
  }
};

/// A part of a rank's program.
struct PartOf {
  Rank rank = 0;
  uint32_t part = 0;
};
/// The recv of a send and the reverse, by counting; part kNone: it has none, or which one is
/// decided at replay (from any source).
PartOf partner(const Job& job, const Messages& messages, Rank rank, uint32_t part);

/// Errors: a rank that receives with one tag both from any source and from a certain one.
Result<Messages> connect_messages(const Job& job);

}  // namespace prism::graph
