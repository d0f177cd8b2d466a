// SPDX-License-Identifier: Apache-2.0
#include "core/graph/messages.hpp"

#include <string>
#include <tuple>
#include <unordered_map>

#include "core/graph/describe.hpp"

namespace prism::graph {
namespace {

struct Key {
  uint32_t a, b, c, d;
  bool operator==(const Key&) const = default;
};
struct KeyHash {
  size_t operator()(const Key& k) const {
    uint64_t hash = (uint64_t{k.a} << 32U | k.b) * 0x9e3779b97f4a7c15;
    hash = (hash ^ hash >> 32U ^ (uint64_t{k.c} << 32U | k.d)) * 0xd6e8feb86659fd93;
    return hash ^ hash >> 29U;
  }
};
using Index = std::unordered_map<Key, uint32_t, KeyHash>;

ClassMessages collect(const Program& program) {
  ClassMessages result;
  result.endpoint_of_part.resize(program.parts.size(), kNone);
  result.nth_of_part.resize(program.parts.size(), 0);
  result.node_of_part.resize(program.parts.size(), kNone);
  Index known;
  for (uint32_t id = 0; id < program.nodes.size(); ++id) {
    const Node& node = program.nodes[id];
    if (!has_parts(node.kind)) {
      continue;
    }
    for (uint32_t p = node.first_part; p < node.first_part + node.part_count; ++p) {
      const Part& part = program.parts[p];
      const bool tagged = program.communicators[part.communicator].backend != "nccl";
      const int32_t tag = tagged ? part.tag : 0;
      const uint32_t kind_and_slot = part.communicator << 1U | (part.kind == Kind::Send ? 1U : 0U);
      const auto next = static_cast<uint32_t>(result.endpoints.size());
      const uint32_t endpoint =
          known
              .try_emplace(Key{kind_and_slot, static_cast<uint32_t>(part.peer),
                               static_cast<uint32_t>(tag), 0},
                           next)
              .first->second;
      if (endpoint == next) {
        result.endpoints.push_back({part.kind, part.communicator, part.peer, tag, {}});
      }
      auto& parts = result.endpoints[endpoint].parts;
      result.endpoint_of_part[p] = endpoint;
      result.nth_of_part[p] = static_cast<uint32_t>(parts.size());
      result.node_of_part[p] = id;
      parts.push_back(p);
    }
  }
  return result;
}

class Connector {
 public:
  explicit Connector(const Job& job) : job_(job) {}

  Result<Messages> run() {
    for (const Class& c : job_.classes) {
      out_.classes.push_back(collect(c.program));
    }
    for (Rank rank = 0; rank < job_.world_size; ++rank) {
      out_.first_endpoint.push_back(out_.table.size());
      const ClassMessages& messages = out_.classes[job_.class_of[rank]];
      for (uint32_t e = 0; e < messages.endpoints.size(); ++e) {
        out_.table.push_back(connect(rank, e, messages.endpoints[e]));
      }
    }
    for (Channel& channel : out_.channels) {
      PRISM_TRY(deliver_to_mailbox(channel));
    }
    return std::move(out_);
  }

 private:
  uint32_t connect(Rank rank, uint32_t index, const Endpoint& endpoint) {
    const uint32_t communicator = job_.communicator(rank, endpoint.slot);
    const auto tag = static_cast<uint32_t>(endpoint.tag);
    if (endpoint.peer == kAnySource) {
      const auto next = static_cast<uint32_t>(out_.mailboxes.size());
      mailbox_of_.try_emplace(Key{communicator, rank, tag, 0}, next);
      out_.mailboxes.push_back({communicator, rank, endpoint.tag, index});
      return next;
    }
    const bool sends = endpoint.kind == Kind::Send;
    const Part& any = job_.program(rank).parts[endpoint.parts.front()];
    const Rank peer = job_.peer(rank, any);
    const Rank source = sends ? rank : peer;
    const Rank destination = sends ? peer : rank;
    const auto next = static_cast<uint32_t>(out_.channels.size());
    const uint32_t channel =
        channel_of_.try_emplace(Key{communicator, source, destination, tag}, next).first->second;
    if (channel == next) {
      out_.channels.push_back({communicator, source, destination, endpoint.tag});
    }
    (sends ? out_.channels[channel].sender : out_.channels[channel].receiver) = index;
    return channel;
  }

  Status deliver_to_mailbox(Channel& channel) {
    const auto mailbox = mailbox_of_.find(
        Key{channel.communicator, channel.destination, static_cast<uint32_t>(channel.tag), 0});
    if (mailbox == mailbox_of_.end()) {
      return {};
    }
    if (channel.receiver != kNone) {
      const ClassMessages& messages = out_.classes[job_.class_of[channel.destination]];
      const uint32_t any = out_.mailboxes[mailbox->second].receiver;
      const auto node = [&](uint32_t endpoint) {
        return messages.node_of_part[messages.endpoints[endpoint].parts.front()];
      };
      return run_error("rank " + std::to_string(channel.destination) +
                           " receives with one tag both from any source (" +
                           describe_node(job_, channel.destination, node(any)) +
                           ") and from rank " + std::to_string(channel.source) + " (" +
                           describe_node(job_, channel.destination, node(channel.receiver)) +
                           "); which of them gets a message cannot be predicted; use two tags",
                       Code::Unimplemented);
    }
    channel.mailbox = mailbox->second;
    return {};
  }

  const Job& job_;
  Messages out_;
  Index channel_of_;
  Index mailbox_of_;
};

}  // namespace

PartOf partner(const Job& job, const Messages& messages, Rank rank, uint32_t part) {
  const Part& own = job.program(rank).parts[part];
  if (own.peer == kAnySource) {
    return {rank, kNone};
  }
  const ClassMessages& mine = messages.classes[job.class_of[rank]];
  const Channel& channel =
      messages.channels[messages.channel_or_mailbox(rank, mine.endpoint_of_part[part])];
  const bool sends = own.kind == Kind::Send;
  const Rank peer = sends ? channel.destination : channel.source;
  const uint32_t endpoint = sends ? channel.receiver : channel.sender;
  if (endpoint == kNone) {
    return {peer, kNone};
  }
  const auto& parts = messages.classes[job.class_of[peer]].endpoints[endpoint].parts;
  const uint32_t n = mine.nth_of_part[part];
  return {peer, n < parts.size() ? parts[n] : kNone};
}

Result<Messages> connect_messages(const Job& job) {
  return Connector(job).run();
}

}  // namespace prism::graph
