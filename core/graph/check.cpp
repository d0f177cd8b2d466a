// SPDX-License-Identifier: Apache-2.0
#include "core/graph/check.hpp"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/graph/describe.hpp"
#include "core/graph/messages.hpp"

namespace prism::graph {
namespace {

/// "1st", "2nd", "17th".
std::string ordinal(uint64_t zero_based) {
  const uint64_t n = zero_based + 1;
  const uint64_t tens = n % 100;
  const char* ending = tens >= 11 && tens <= 13 ? "th"
                       : n % 10 == 1            ? "st"
                       : n % 10 == 2            ? "nd"
                       : n % 10 == 3            ? "rd"
                                                : "th";
  return std::to_string(n) + ending;
}

/// Lists that belong to classes, so that each pair of lists is compared only once.
using ComparedPairs = std::unordered_set<uint64_t>;

class CollectiveCheck {
 public:
  explicit CollectiveCheck(const Job& job) : job_(job) {
    for (const Class& c : job.classes) {
      first_list_.push_back(static_cast<uint32_t>(lists_.size()));
      lists_.resize(lists_.size() + c.program.communicators.size());
      for (uint32_t id = 0; id < c.program.nodes.size(); ++id) {
        if (is_collective(c.program.nodes[id].kind)) {
          lists_[first_list_.back() + c.program.nodes[id].communicator].push_back(id);
        }
      }
    }
    // The list of each member of each communicator, in group order.
    members_.resize(job.communicators.size());
    for (uint32_t c = 0; c < members_.size(); ++c) {
      members_[c].assign(job.communicators[c].ranks.size(), kNone);
    }
    for (Rank rank = 0; rank < job.world_size; ++rank) {
      for (uint32_t slot = 0; slot < job.program(rank).communicators.size(); ++slot) {
        const uint32_t c = job.communicator(rank, slot);
        if (c != kNone) {
          members_[c][position_of(job.communicators[c], rank)] =
              first_list_[job.class_of[rank]] + slot;
        }
      }
    }
  }

  Status run(std::vector<std::string>* notes) {
    for (uint32_t c = 0; c < members_.size(); ++c) {
      PRISM_TRY(check_communicator(c));
    }
    if (notes != nullptr && approximate_ > 0) {
      notes->push_back(std::to_string(approximate_) +
                       (approximate_ == 1 ? " all-to-all does" : " all-to-alls do") +
                       " not add up (" + worst_ +
                       "): the ranks of a class are taken to send and get what the first one does; "
                       "classes = \"none\" gives each rank its own sizes");
    }
    return {};
  }

 private:
  struct Member {
    Rank rank;
    uint32_t list;  ///< kNone: the rank never uses the communicator
  };
  Member member(uint32_t communicator, size_t position) const {
    return {job_.communicators[communicator].ranks[position], members_[communicator][position]};
  }
  const std::vector<uint32_t>& nodes(const Member& m) const {
    static const std::vector<uint32_t> kNothing;
    return m.list == kNone ? kNothing : lists_[m.list];
  }
  const Node& node(const Member& m, size_t n) const {
    return job_.program(m.rank).nodes[nodes(m)[n]];
  }
  std::string words(const Member& m, size_t n) const {
    return describe_node(job_, m.rank, nodes(m)[n]);
  }

  Status check_communicator(uint32_t communicator) {
    const Member first = member(communicator, 0);
    bool same_sizes = true;
    for (size_t position = 1; position < members_[communicator].size(); ++position) {
      const Member other = member(communicator, position);
      if (first.list == other.list) {
        continue;
      }
      const uint64_t pair = uint64_t{first.list} << 32U | other.list;
      if (alike_.count(pair) != 0) {
        continue;
      }
      bool pair_same_sizes = true;
      PRISM_TRY(compare(communicator, first, other, pair_same_sizes));
      if (pair_same_sizes) {
        alike_.insert(pair);
      }
      same_sizes &= pair_same_sizes;
    }
    // Sizes that may differ must add up; where all are equal this depends on the list alone.
    if (same_sizes && first.list != kNone &&
        !summed_.insert(uint64_t{first.list} << 32U | members_[communicator].size()).second) {
      return {};
    }
    return check_sums(communicator, first);
  }

  Status compare(uint32_t communicator, const Member& a, const Member& b, bool& same_sizes) const {
    const size_t common = std::min(nodes(a).size(), nodes(b).size());
    for (size_t n = 0; n < common; ++n) {
      const char* difference = different(node(a, n), node(b, n), same_sizes);
      if (difference != nullptr) {
        return run_error("the " + ordinal(n) + " collective of communicator " +
                         describe(job_.communicators[communicator]) + hint(communicator) +
                         " has different " + difference + ": " + words(a, n) + "; " + words(b, n));
      }
    }
    if (nodes(a).size() == nodes(b).size()) {
      return {};
    }
    const bool a_longer = nodes(a).size() > nodes(b).size();
    const Member& longer = a_longer ? a : b;
    const Member& shorter = a_longer ? b : a;
    return run_error("rank " + std::to_string(shorter.rank) + " is missing from the " +
                     ordinal(common) + " collective of communicator " +
                     describe(job_.communicators[communicator]) + hint(communicator) + ": it has " +
                     std::to_string(common) + " collectives there, rank " +
                     std::to_string(longer.rank) + " has " + std::to_string(nodes(longer).size()) +
                     ", the " + ordinal(common) + " at " + words(longer, common));
  }

  /// What must be equal and is not; nullptr if nothing. Clears `same_sizes` where sizes differ that
  /// only have to add up.
  static const char* different(const Node& a, const Node& b, bool& same_sizes) {
    if (a.kind != b.kind) {
      return "kinds";
    }
    if (a.kind == Kind::Barrier) {
      return nullptr;
    }
    if (a.dtype != b.dtype) {
      return "element types";
    }
    if (a.reduction != b.reduction) {
      return "reductions";
    }
    if (has_root(a.kind) && a.root != b.root) {
      return "roots";
    }
    const bool same_input = a.input_bytes == b.input_bytes;
    const bool same_output = a.output_bytes == b.output_bytes;
    const auto larger = [](const Node& n) { return std::max(n.input_bytes, n.output_bytes); };
    bool fits = true;
    switch (a.kind) {
      case Kind::AllReduce:
      case Kind::Broadcast:
      case Kind::Reduce:
        fits = larger(a) == larger(b);
        break;
      case Kind::Scatter:
        fits = same_output;
        break;
      case Kind::Gather:
        fits = same_input;
        break;
      case Kind::AllGather:
        fits = same_output;
        same_sizes &= same_input;
        break;
      case Kind::ReduceScatter:
        fits = same_input;
        same_sizes &= same_output;
        break;
      default:
        same_sizes &= same_input && same_output;
    }
    return fits ? nullptr : "sizes";
  }

  /// All-to-all: what goes in comes out. Uneven all-gather: the inputs are the output; uneven
  /// reduce-scatter: the outputs are the input.
  Status check_sums(uint32_t communicator, const Member& first) {
    const size_t size = members_[communicator].size();
    for (size_t n = 0; n < nodes(first).size(); ++n) {
      const Node& any = node(first, n);
      if (any.kind != Kind::AllToAll && any.kind != Kind::AllGather &&
          any.kind != Kind::ReduceScatter) {
        continue;
      }
      uint64_t input = 0;
      uint64_t output = 0;
      bool even = true;
      bool shared = false;
      for (size_t position = 0; position < size; ++position) {
        const Node& its = node(member(communicator, position), n);
        input += its.input_bytes;
        output += its.output_bytes;
        shared |= job_.class_of_rank(member(communicator, position).rank).members.size() > 1;
        even &= its.input_bytes == any.input_bytes && its.output_bytes == any.output_bytes;
      }
      const bool fits = any.kind == Kind::AllToAll    ? input == output
                        : any.kind == Kind::AllGather ? even || input == any.output_bytes
                                                      : even || output == any.input_bytes;
      if (!fits && any.kind == Kind::AllToAll && shared && !even) {
        tell_approximate(communicator, n, input, output);
      } else if (!fits) {
        return run_error("the sizes of the " + ordinal(n) + " collective of communicator " +
                         describe(job_.communicators[communicator]) + hint(communicator) +
                         " do not add up: its members put in " + std::to_string(input) +
                         " bytes and get " + std::to_string(output) + "; " + words(first, n) +
                         "; " + words(member(communicator, size - 1), n));
      }
    }
    return {};
  }

  void tell_approximate(uint32_t communicator, size_t n, uint64_t input, uint64_t output) {
    ++approximate_;
    const uint64_t off = input > output ? input - output : output - input;
    if (worst_.empty() || off > worst_off_) {
      worst_off_ = off;
      worst_ = "at worst, in the " + ordinal(n) + " collective of communicator " +
               describe(job_.communicators[communicator]) + ", all members put in " +
               std::to_string(input) + " bytes and get " + std::to_string(output);
    }
  }

  /// A communicator that nobody recorded may be the mistake itself.
  std::string hint(uint32_t communicator) const {
    return job_.communicators[communicator].synthesised
               ? " (which no rank that was run is in; it was derived from one of its class)"
               : "";
  }

  const Job& job_;
  std::vector<uint32_t> first_list_;          ///< by class
  std::vector<std::vector<uint32_t>> lists_;  ///< by class and slot: its collectives
  std::vector<std::vector<uint32_t>> members_;
  ComparedPairs alike_;
  ComparedPairs summed_;
  uint64_t approximate_ = 0;  ///< all-to-alls that do not add up because ranks share a class
  uint64_t worst_off_ = 0;
  std::string worst_;
};

class MessageCheck {
 public:
  MessageCheck(const Job& job, const Messages& messages) : job_(job), messages_(messages) {
    uint32_t lists = 0;
    for (const ClassMessages& c : messages.classes) {
      first_list_.push_back(lists);
      lists += static_cast<uint32_t>(c.endpoints.size());
    }
  }

  Status run() {
    std::vector<uint64_t> sent_to(messages_.mailboxes.size(), 0);
    for (const Channel& channel : messages_.channels) {
      if (channel.mailbox != kNone) {
        sent_to[channel.mailbox] += sends(channel).size();
      } else {
        PRISM_TRY(check_channel(channel));
      }
    }
    for (uint32_t m = 0; m < sent_to.size(); ++m) {
      PRISM_TRY(check_mailbox(messages_.mailboxes[m], sent_to[m]));
    }
    return {};
  }

 private:
  const std::vector<uint32_t>& parts(Rank rank, uint32_t endpoint) const {
    static const std::vector<uint32_t> kNothing;
    return endpoint == kNone ? kNothing
                             : messages_.classes[job_.class_of[rank]].endpoints[endpoint].parts;
  }
  uint32_t list_id(Rank rank, uint32_t endpoint) const {
    return endpoint == kNone ? kNone : first_list_[job_.class_of[rank]] + endpoint;
  }
  const std::vector<uint32_t>& sends(const Channel& c) const { return parts(c.source, c.sender); }
  const std::vector<uint32_t>& recvs(const Channel& c) const {
    return parts(c.destination, c.receiver);
  }
  /// Node and part, since a batch has many.
  std::string words(Rank rank, uint32_t part) const {
    const uint32_t id = messages_.classes[job_.class_of[rank]].node_of_part[part];
    const Program& program = job_.program(rank);
    std::string text = describe_node(job_, rank, id);
    if (program.nodes[id].kind == Kind::Batch) {
      text += ": " + describe_part(job_, rank, program.parts[part]);
    }
    return text;
  }

  Status check_channel(const Channel& channel) {
    const uint64_t pair = uint64_t{list_id(channel.source, channel.sender)} << 32U |
                          list_id(channel.destination, channel.receiver);
    if (alike_.count(pair) != 0) {
      return {};
    }
    const auto& sent = sends(channel);
    const auto& received = recvs(channel);
    const size_t common = std::min(sent.size(), received.size());
    for (size_t n = 0; n < common; ++n) {
      const Part& send = job_.program(channel.source).parts[sent[n]];
      const Part& recv = job_.program(channel.destination).parts[received[n]];
      if (send.bytes != recv.bytes || send.dtype != recv.dtype) {
        return run_error(
            "the " + ordinal(n) + " message from rank " + std::to_string(channel.source) +
            " to rank " + std::to_string(channel.destination) + " on communicator " +
            describe(job_.communicators[channel.communicator]) + ", tag " +
            std::to_string(channel.tag) + ", is sent and received with different " +
            (send.bytes != recv.bytes ? "sizes" : "element types") + ": " +
            words(channel.source, sent[n]) + "; " + words(channel.destination, received[n]));
      }
    }
    if (sent.size() > common) {
      return run_error(
          "rank " + std::to_string(channel.destination) + " never receives the " + ordinal(common) +
          " message that rank " + std::to_string(channel.source) + " sends it on communicator " +
          describe(job_.communicators[channel.communicator]) + ", tag " +
          std::to_string(channel.tag) + ": unmatched " + words(channel.source, sent[common]));
    }
    if (received.size() > common) {
      return run_error("rank " + std::to_string(channel.source) + " never sends the " +
                       ordinal(common) + " message that rank " +
                       std::to_string(channel.destination) + " expects from it on communicator " +
                       describe(job_.communicators[channel.communicator]) + ", tag " +
                       std::to_string(channel.tag) + ": unmatched " +
                       words(channel.destination, received[common]));
    }
    alike_.insert(pair);
    return {};
  }

  Status check_mailbox(const Mailbox& mailbox, uint64_t sent) const {
    const auto& received = parts(mailbox.destination, mailbox.receiver);
    if (received.size() == sent) {
      return {};
    }
    return run_error(
        "rank " + std::to_string(mailbox.destination) + " receives " +
        std::to_string(received.size()) + " messages from any source on communicator " +
        describe(job_.communicators[mailbox.communicator]) + ", tag " +
        std::to_string(mailbox.tag) + ", but " + std::to_string(sent) +
        " are sent to it; the first such recv is " + words(mailbox.destination, received.front()));
  }

  const Job& job_;
  const Messages& messages_;
  std::vector<uint32_t> first_list_;  ///< by class: where its endpoints begin
  ComparedPairs alike_;
};

}  // namespace

Status check(const Job& job, std::vector<std::string>* notes) {
  PRISM_TRY(CollectiveCheck(job).run(notes));
  PRISM_TRY_ASSIGN(const Messages messages, connect_messages(job));
  return MessageCheck(job, messages).run();
}

}  // namespace prism::graph
