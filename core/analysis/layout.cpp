// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/layout.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace prism::analysis {
namespace {

using graph::Communicator;
using graph::Job;
using graph::kNone;
using graph::Node;
using graph::Part;
using graph::Program;

/// The words of a communicator's name and description, in lower case: what is made of letters.
std::set<std::string> words_of(const Communicator& communicator) {
  std::set<std::string> words;
  std::string word;
  for (const char c : communicator.name + " " + communicator.description + " ") {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalpha(byte) != 0) {
      word += static_cast<char>(std::tolower(byte));
    } else if (!word.empty()) {
      words.insert(std::exchange(word, {}));
    }
  }
  return words;
}

bool is_pipeline(const Communicator& communicator) {
  const std::set<std::string> words = words_of(communicator);
  return words.count("pipeline") != 0 || words.count("pp") != 0;
}

bool is_data_parallel(const Communicator& communicator) {
  const std::set<std::string> words = words_of(communicator);
  const bool named =
      words.count("dp") != 0 || (words.count("data") != 0 && words.count("parallel") != 0);
  return named && words.count("expert") == 0;
}

std::string in_words(const Communicator& communicator) {
  return "'" + (communicator.description.empty() ? communicator.name : communicator.description) +
         "'";
}

/// The parts of a class's messages to or from ranks that are known, in program order.
std::vector<const Part*> messages_of(const Program& program) {
  std::vector<const Part*> parts;
  parts.reserve(program.parts.size());
  for (const Node& node : program.nodes) {
    for (uint32_t p = node.first_part; p < node.first_part + node.part_count; ++p) {
      if (program.parts[p].peer != graph::kAnySource) {
        parts.push_back(&program.parts[p]);
      }
    }
  }
  return parts;
}

/// The chains of ranks that send messages to each other.
class Chains {
 public:
  explicit Chains(const Job& job) : job_(job), parent_(job.world_size) {
    std::iota(parent_.begin(), parent_.end(), 0U);
    messages_.reserve(job.classes.size());
    for (const graph::Class& c : job.classes) {
      messages_.push_back(messages_of(c.program));
    }
    only_pipelines_ = any_pipeline();
    first_sends_to_.assign(job.world_size, kNone);
    sends_before_it_receives_.assign(job.world_size, false);
    communicators_.resize(job.world_size);
    for (Rank rank = 0; rank < job.world_size; ++rank) {
      look_at(rank);
    }
  }

  /// By rank, -1 where there is none; and how they were found.
  std::pair<std::vector<int32_t>, std::string> stages() {
    std::map<Rank, std::vector<Rank>> chains;
    for (Rank rank = 0; rank < job_.world_size; ++rank) {
      chains[root(rank)].push_back(rank);
    }
    std::vector<int32_t> stage(job_.world_size, -1);
    std::string how;
    for (const auto& [first, members] : chains) {
      if (members.size() < 2) {
        continue;
      }
      std::vector<Rank> order = named_order(members);
      const bool named = !order.empty();
      if (!named) {
        order = walked_order(members);
      }
      for (size_t i = 0; i < order.size(); ++i) {
        stage[order[i]] = static_cast<int32_t>(i);
      }
      if (how.empty() && !order.empty()) {
        how = named ? "places in " + in_words(job_.communicators[communicators_[first].front()])
                    : "who sends to whom first";
      }
    }
    return {std::move(stage), std::move(how)};
  }

 private:
  bool any_pipeline() const {
    for (Rank rank = 0; rank < job_.world_size; ++rank) {
      for (const Part* part : messages_[job_.class_of[rank]]) {
        if (is_pipeline(communicator(rank, *part))) {
          return true;
        }
      }
    }
    return false;
  }

  const Communicator& communicator(Rank rank, const Part& part) const {
    return job_.communicators[job_.communicator(rank, part.communicator)];
  }

  void look_at(Rank rank) {
    bool first = true;
    std::set<std::pair<uint32_t, int32_t>> seen;  // (slot, peer)
    std::map<uint32_t, bool> wanted;              // by slot
    for (const Part* part : messages_[job_.class_of[rank]]) {
      const auto [slot, is_new] = wanted.try_emplace(part->communicator, true);
      if (is_new) {
        slot->second = !only_pipelines_ || is_pipeline(communicator(rank, *part));
        if (slot->second) {
          communicators_[rank].push_back(job_.communicator(rank, part->communicator));
        }
      }
      if (!slot->second) {
        continue;
      }
      const bool sends = part->kind == graph::Kind::Send;
      if (seen.insert({part->communicator, part->peer}).second) {
        parent_[root(rank)] = root(job_.peer(rank, *part));
      }
      if (sends && first_sends_to_[rank] == kNone) {
        first_sends_to_[rank] = job_.peer(rank, *part);
      }
      if (first) {
        sends_before_it_receives_[rank] = sends;
        first = false;
      }
    }
  }

  Rank root(Rank rank) {
    while (parent_[rank] != rank) {
      parent_[rank] = parent_[parent_[rank]];
      rank = parent_[rank];
    }
    return rank;
  }

  std::vector<Rank> named_order(const std::vector<Rank>& members) const {
    const std::vector<Rank>* order = nullptr;
    for (const Rank member : members) {
      for (const uint32_t c : communicators_[member]) {
        const Communicator& its = job_.communicators[c];
        if (!is_pipeline(its) || (order != nullptr && *order != its.ranks)) {
          return {};
        }
        order = &its.ranks;
      }
    }
    return order != nullptr && order->size() == members.size() ? *order : std::vector<Rank>();
  }

  std::vector<Rank> walked_order(const std::vector<Rank>& members) const {
    std::set<Rank> targets;
    for (const Rank member : members) {
      targets.insert(first_sends_to_[member]);
    }
    Rank at = kNone;
    for (const Rank member : members) {
      if (targets.count(member) == 0) {
        if (at != kNone) {
          return {};
        }
        at = member;
      }
    }
    if (at == kNone) {
      const auto first = std::find_if(members.begin(), members.end(),
                                      [&](Rank rank) { return sends_before_it_receives_[rank]; });
      at = first == members.end() ? kNone : *first;
    }
    std::vector<Rank> order;
    std::set<Rank> visited;
    while (at != kNone && visited.insert(at).second) {
      order.push_back(at);
      at = first_sends_to_[at];
    }
    return order.size() == members.size() ? order : std::vector<Rank>();
  }

  const Job& job_;
  std::vector<std::vector<const Part*>> messages_;  ///< by class
  std::vector<Rank> parent_;                        ///< union-find
  bool only_pipelines_ = false;
  std::vector<Rank> first_sends_to_;
  std::vector<bool> sends_before_it_receives_;
  std::vector<std::vector<uint32_t>> communicators_;  ///< by rank: those of its messages
};

/// How the ranks of a class communicate, as numbers that are equal where it is alike.
class Manner {
 public:
  std::vector<std::vector<uint64_t>> of(const graph::Class& c) {
    const Program& program = c.program;
    const Rank self = c.members[c.representative];
    std::vector<std::vector<uint64_t>> lanes(program.lanes.size());
    for (uint32_t id = 0; id < program.nodes.size(); ++id) {
      const Node& node = program.nodes[id];
      if (node.kind == graph::Kind::Compute || node.kind == graph::Kind::Transfer) {
        continue;
      }
      std::vector<uint64_t>& lane = lanes[node.lane];
      lane.push_back(static_cast<uint64_t>(node.kind));
      lane.push_back(name_of(program, id));
      if (graph::is_collective(node.kind)) {
        const bool by_data = node.kind == graph::Kind::AllToAll;
        lane.push_back(group(program.communicators[node.communicator]));
        lane.push_back(uint64_t{node.dtype} << 8U | node.reduction);
        lane.push_back(by_data ? 0 : node.input_bytes);
        lane.push_back(by_data ? 0 : node.output_bytes);
      }
      for (uint32_t p = node.first_part; p < node.first_part + node.part_count; ++p) {
        add(program, self, program.parts[p], lane);
      }
    }
    lanes.erase(
        std::remove_if(lanes.begin(), lanes.end(), [](const auto& lane) { return lane.empty(); }),
        lanes.end());
    std::sort(lanes.begin(), lanes.end());
    return lanes;
  }

 private:
  uint64_t number(const std::string& text) {
    return numbers_.try_emplace(text, numbers_.size()).first->second;
  }
  uint64_t name_of(const Program& program, uint32_t node) {
    const uint32_t name = program.labels.empty() ? kNone : program.labels[node].name;
    return name == kNone ? UINT64_MAX : number("name " + program.texts[name]);
  }
  uint64_t group(const Communicator& communicator) {
    return number("group " + communicator.backend + " " +
                  std::to_string(communicator.ranks.size()));
  }
  void add(const Program& program, Rank self, const Part& part, std::vector<uint64_t>& lane) {
    const Communicator& communicator = program.communicators[part.communicator];
    const uint64_t size = communicator.ranks.size();
    const uint64_t distance =
        part.peer == graph::kAnySource
            ? size
            : (static_cast<uint64_t>(part.peer) + size - graph::position_of(communicator, self)) %
                  size;
    lane.insert(lane.end(), {static_cast<uint64_t>(part.kind), group(communicator), part.dtype,
                             part.bytes, distance});
  }

  std::map<std::string, uint64_t> numbers_;
};

void find_like(const Job& job, Layout& layout) {
  Manner manner;
  std::map<std::pair<int32_t, std::vector<std::vector<uint64_t>>>, uint32_t> groups;
  layout.like_of.assign(job.world_size, 0);
  for (const graph::Class& c : job.classes) {
    const int32_t stage = layout.stage[c.members[c.representative]];
    const auto number = static_cast<uint32_t>(groups.size());
    const auto [group, is_new] = groups.try_emplace({stage, manner.of(c)}, number);
    if (is_new) {
      layout.like.emplace_back();
    }
    for (const Rank member : c.members) {
      layout.like[group->second].push_back(member);
      layout.like_of[member] = group->second;
    }
  }
  for (std::vector<Rank>& ranks : layout.like) {
    std::sort(ranks.begin(), ranks.end());
  }
}

/// By rank: its largest communicator of like ranks that is called data parallel; kNone: none.
std::vector<uint32_t> data_parallel_groups(const Job& job, const Layout& layout) {
  std::vector<uint32_t> found(job.world_size, kNone);
  for (uint32_t c = 0; c < job.communicators.size(); ++c) {
    const Communicator& communicator = job.communicators[c];
    const auto like_the_first = [&](Rank rank) {
      return layout.like_of[rank] == layout.like_of[communicator.ranks.front()];
    };
    if (!is_data_parallel(communicator) ||
        !std::all_of(communicator.ranks.begin(), communicator.ranks.end(), like_the_first)) {
      continue;
    }
    for (const Rank rank : communicator.ranks) {
      const uint32_t before = found[rank];
      if (before == kNone || job.communicators[before].ranks.size() < communicator.ranks.size()) {
        found[rank] = c;
      }
    }
  }
  return found;
}

void find_replicas(const Job& job, Layout& layout) {
  layout.replica.assign(job.world_size, 0);
  if (job.classes.size() < job.world_size) {
    layout.replica = job.index_of;
    layout.replicas_from = "places in the classes of ranks";
  } else if (const std::vector<uint32_t> groups = data_parallel_groups(job, layout);
             std::count(groups.begin(), groups.end(), kNone) == 0) {
    for (Rank rank = 0; rank < job.world_size; ++rank) {
      layout.replica[rank] = graph::position_of(job.communicators[groups[rank]], rank);
    }
    layout.replicas_from = "places in " + in_words(job.communicators[groups.front()]);
  } else {
    for (const std::vector<Rank>& ranks : layout.like) {
      for (uint32_t i = 0; i < ranks.size(); ++i) {
        layout.replica[ranks[i]] = i;
      }
    }
    layout.replicas_from = "places among ranks that communicate alike";
  }
  for (const uint32_t replica : layout.replica) {
    layout.replicas = std::max(layout.replicas, replica + 1);
  }
}

}  // namespace

Layout layout_of(const Job& job) {
  Layout layout;
  std::tie(layout.stage, layout.stages_from) = Chains(job).stages();
  for (const int32_t stage : layout.stage) {
    layout.stages = std::max(layout.stages, static_cast<uint32_t>(stage + 1));
  }
  find_like(job, layout);
  find_replicas(job, layout);
  return layout;
}

}  // namespace prism::analysis
