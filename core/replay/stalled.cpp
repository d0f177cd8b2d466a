// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/describe.hpp"
#include "core/replay/state.hpp"

namespace prism::replay {
namespace {

using graph::Kind;
using graph::Part;

struct Blocked {
  Rank rank = 0;
  uint32_t lane = 0;
  bool operator<(const Blocked& o) const {
    return std::pair{rank, lane} < std::pair{o.rank, o.lane};
  }
};

class Stall {
 public:
  explicit Stall(const State& state) : state_(state) {}

  Status explain() {
    std::vector<bool> rank_waits(state_.job.world_size, false);
    std::vector<Blocked> blocked;
    for (Rank rank = 0; rank < state_.job.world_size; ++rank) {
      const Compiled& compiled = state_.compiled(rank);
      for (uint32_t lane = 0; lane < compiled.lanes.size(); ++lane) {
        if (state_.lane(rank, lane).cursor < compiled.lanes[lane].op_count) {
          blocked.push_back({rank, lane});
          rank_waits[rank] = true;
        }
      }
    }
    if (blocked.empty()) {
      return run_error(
          "all ranks end, but some communications never complete: sends that nobody receives, or "
          "collectives in which members are missing");
    }
    const auto waiting = std::count(rank_waits.begin(), rank_waits.end(), true);
    const std::string head = "the job cannot go on: " + std::to_string(waiting) + " of " +
                             std::to_string(state_.job.world_size) + " ranks wait for ever";
    return run_error(head + follow(blocked.front()));
  }

 private:
  /// What the node at the cursor waits for: another lane, or nothing that will ever come.
  struct Next {
    bool found = false;
    Blocked lane;
    std::string why;  ///< when not found
  };

  std::string follow(Blocked at) const {
    std::vector<Blocked> chain;
    std::map<Blocked, size_t> seen;
    while (true) {
      const auto [place, first] = seen.try_emplace(at, chain.size());
      if (!first) {
        std::string text = "; they wait for each other in a circle:";
        for (size_t i = place->second; i < chain.size(); ++i) {
          text += "\n  " + head_of(chain[i]) + " waits for";
        }
        return text + "\n  " + head_of(at);
      }
      chain.push_back(at);
      const Next next = next_of(at);
      if (!next.found) {
        std::string text = ":";
        for (const Blocked& b : chain) {
          text += "\n  " + head_of(b) + " waits for";
        }
        return text + "\n  " + next.why;
      }
      at = next.lane;
    }
  }

  const Op& op_at(Blocked at) const {
    return state_.compiled(at.rank).op({at.lane, state_.lane(at.rank, at.lane).cursor});
  }
  std::string head_of(Blocked at) const {
    return graph::describe_node(state_.job, at.rank, op_at(at).node);
  }
  bool has_arrived(Rank rank, uint32_t node) const {
    const Place place = state_.compiled(rank).place_of_node[node];
    const LaneState& at = state_.lane(rank, place.lane);
    return at.cursor > place.index || (at.cursor == place.index && at.pending != 0);
  }
  Next lane_of(Rank rank, uint32_t node) const {
    return {true, {rank, state_.compiled(rank).place_of_node[node].lane}, {}};
  }

  Next next_of(Blocked at) const {
    const Compiled& compiled = state_.compiled(at.rank);
    const Op& op = op_at(at);
    if (state_.lane(at.rank, at.lane).pending == 0) {
      for (uint32_t d = 0; d < op.dependency_count; ++d) {
        const Dependency& needed = compiled.dependencies[op.first_dependency + d];
        if (state_.lane(at.rank, needed.lane).cursor <= needed.index) {
          return {true, {at.rank, needed.lane}, {}};
        }
      }
      return {false, {}, "nothing (a bug of the replay)"};
    }
    return op.slot != kNone ? missing_member(at, op) : missing_partner(at, op);
  }

  Next missing_member(Blocked at, const Op& op) const {
    const uint32_t communicator = state_.job.communicator(at.rank, op.slot);
    const graph::Communicator& group = state_.job.communicators[communicator];
    std::vector<Rank> needed = group.ranks;
    if (graph::has_root(op.kind)) {
      const Rank root = group.ranks[static_cast<size_t>(op.root)];
      if (root != at.rank) {
        needed = {root};
      }
    }
    for (const Rank member : needed) {
      const uint32_t slot = slot_of(state_.job, member, communicator);
      const auto& collectives = state_.compiled(member).collectives;
      if (slot == kNone || op.sequence >= collectives[slot].size()) {
        return {false, {}, "rank " + std::to_string(member) + ", which never takes part in it"};
      }
      const uint32_t node = collectives[slot][op.sequence];
      if (!has_arrived(member, node)) {
        return lane_of(member, node);
      }
    }
    return {false, {}, "nobody (a bug of the replay)"};
  }

  Next missing_partner(Blocked at, const Op& op) const {
    const graph::Program& program = state_.job.program(at.rank);
    std::string never = "nobody (a bug of the replay)";
    for (uint32_t p = op.first_part; p < op.first_part + op.part_count; ++p) {
      const Part& part = program.parts[p];
      if (state_.any_source.count(State::key(at.rank, p)) != 0) {
        continue;
      }
      Next next = with_mailbox(at.rank, p) ? mailbox_partner(at.rank, p) : direct(at.rank, p);
      if (next.found) {
        return next;
      }
      if (!next.why.empty()) {
        never = next.why + " (" + graph::describe_part(state_.job, at.rank, part) + ")";
      }
    }
    return {false, {}, never};
  }

  uint32_t id_of(Rank rank, uint32_t part) const {
    const auto& messages = state_.messages.classes[state_.job.class_of[rank]];
    return state_.messages.channel_or_mailbox(rank, messages.endpoint_of_part[part]);
  }
  bool receives_any(Rank rank, uint32_t part) const {
    return state_.job.program(rank).parts[part].peer == graph::kAnySource;
  }
  bool with_mailbox(Rank rank, uint32_t part) const {
    return receives_any(rank, part) || state_.messages.channels[id_of(rank, part)].mailbox != kNone;
  }

  /// Not found and no reason: this part does not wait.
  Next direct(Rank rank, uint32_t part) const {
    const PartOf other = partner(state_, rank, part);
    const bool sends = state_.job.program(rank).parts[part].kind == Kind::Send;
    if (other.part == kNone) {
      return {false,
              {},
              "rank " + std::to_string(other.rank) + ", which never " +
                  (sends ? "receives it" : "sends it")};
    }
    const uint32_t node = state_.node_of_part(other.rank, other.part);
    return has_arrived(other.rank, node) ? Next{} : lane_of(other.rank, node);
  }

  Next first_not_arrived(Rank rank, uint32_t endpoint) const {
    const auto& messages = state_.messages.classes[state_.job.class_of[rank]];
    for (const uint32_t part : messages.endpoints[endpoint].parts) {
      const uint32_t node = messages.node_of_part[part];
      if (!has_arrived(rank, node)) {
        return lane_of(rank, node);
      }
    }
    return {};
  }

  Next mailbox_partner(Rank rank, uint32_t part) const {
    const uint32_t id = id_of(rank, part);
    if (!receives_any(rank, part)) {
      const graph::Mailbox& mailbox =
          state_.messages.mailboxes[state_.messages.channels[id].mailbox];
      Next next = first_not_arrived(mailbox.destination, mailbox.receiver);
      if (!next.found) {
        next.why = "rank " + std::to_string(mailbox.destination) + ", which never receives it";
      }
      return next;
    }
    for (const graph::Channel& channel : state_.messages.channels) {
      if (channel.mailbox == id && channel.sender != kNone) {
        Next next = first_not_arrived(channel.source, channel.sender);
        if (next.found) {
          return next;
        }
      }
    }
    return {false, {}, "a message that nobody sends"};
  }

  const State& state_;
};

}  // namespace

Status explain_stall(const State& state) {
  return Stall(state).explain();
}

}  // namespace prism::replay
