// SPDX-License-Identifier: Apache-2.0
#include "core/graph/job.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/graph/describe.hpp"
#include "core/graph/validate.hpp"

namespace prism::graph {
namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
  return (hash ^ value) * 0x9e3779b97f4a7c15 + (hash >> 29U);
}
uint64_t hash_of(const Communicator& c) {
  uint64_t hash = mix(c.nth, std::hash<std::string_view>{}(c.description));
  hash = mix(hash, std::hash<std::string_view>{}(c.backend));
  for (const Rank rank : c.ranks) {
    hash = mix(hash, rank);
  }
  return hash;
}
bool same_key(const Communicator& a, const Communicator& b) {
  return a.nth == b.nth && a.ranks == b.ranks && a.description == b.description &&
         a.backend == b.backend;
}

/// Every communicator that any program has seen, and those derived from them.
class Register {
 public:
  /// Adds it unless its key is known; returns its index.
  uint32_t intern(const Communicator& communicator, bool synthesised) {
    auto& same_hash = by_hash_[hash_of(communicator)];
    for (const uint32_t index : same_hash) {
      if (same_key(all_[index], communicator)) {
        return index;
      }
    }
    const auto index = static_cast<uint32_t>(all_.size());
    same_hash.push_back(index);
    JobCommunicator entry{communicator, synthesised};
    all_.push_back(std::move(entry));
    shape_.push_back(shape_of(communicator));
    return index;
  }

  /// A recorded communicator that a rank is in.
  struct Membership {
    uint32_t shape;  ///< description, backend and size
    Rank rank;
    uint32_t index;
    uint32_t position;
  };
  using Range =
      std::pair<std::vector<Membership>::const_iterator, std::vector<Membership>::const_iterator>;

  /// To be called once, after all recorded communicators are in.
  void index_memberships() {
    for (uint32_t index = 0; index < all_.size(); ++index) {
      for (uint32_t position = 0; position < all_[index].ranks.size(); ++position) {
        memberships_.push_back({shape_[index], all_[index].ranks[position], index, position});
      }
    }
    std::sort(memberships_.begin(), memberships_.end(), [](const auto& a, const auto& b) {
      return std::tie(a.shape, a.rank, a.index) < std::tie(b.shape, b.rank, b.index);
    });
  }
  /// The recorded ones that look like `index` and contain `rank`, in order of creation.
  Range like(uint32_t index, Rank rank) const {
    const std::pair<uint32_t, Rank> key{shape_[index], rank};
    const auto begin = std::lower_bound(memberships_.begin(), memberships_.end(), key,
                                        [](const auto& m, const auto& k) {
                                          return std::pair{m.shape, m.rank} < k;
                                        });
    const auto end =
        std::upper_bound(begin, memberships_.end(), key, [](const auto& k, const auto& m) {
          return k < std::pair{m.shape, m.rank};
        });
    return {begin, end};
  }

  const JobCommunicator& operator[](uint32_t index) const { return all_[index]; }
  size_t size() const { return all_.size(); }
  JobCommunicator take(uint32_t index) { return std::move(all_[index]); }

 private:
  uint32_t shape_of(const Communicator& c) {
    const auto next = static_cast<uint32_t>(shapes_.size());
    const std::string key =
        c.backend + '\n' + std::to_string(c.ranks.size()) + '\n' + c.description;
    return shapes_.try_emplace(key, next).first->second;
  }

  std::vector<JobCommunicator> all_;
  std::vector<uint32_t> shape_;
  std::unordered_map<uint64_t, std::vector<uint32_t>> by_hash_;
  std::unordered_map<std::string, uint32_t> shapes_;
  std::vector<Membership> memberships_;
};

/// The nodes of a program that use its communicators, as far as mapping needs them.
struct Uses {
  std::vector<uint32_t> first_node;  ///< by slot; kNone: unused
  struct Peer {
    uint32_t slot;
    int32_t position;
    uint32_t node;
  };
  std::vector<Peer> peers;  ///< each (slot, position) once
};

Uses uses_of(const Program& program) {
  Uses uses;
  uses.first_node.assign(program.communicators.size(), kNone);
  std::unordered_map<uint64_t, bool> seen;
  for (uint32_t id = 0; id < program.nodes.size(); ++id) {
    const Node& node = program.nodes[id];
    const auto use = [&](uint32_t slot) {
      if (uses.first_node[slot] == kNone) {
        uses.first_node[slot] = id;
      }
    };
    if (is_collective(node.kind)) {
      use(node.communicator);
    }
    for (uint32_t p = node.first_part;
         has_parts(node.kind) && p < node.first_part + node.part_count; ++p) {
      const Part& part = program.parts[p];
      use(part.communicator);
      const uint64_t key = (uint64_t{part.communicator} << 32U) | static_cast<uint32_t>(part.peer);
      if (part.peer != kAnySource && seen.try_emplace(key, true).second) {
        uses.peers.push_back({part.communicator, part.peer, id});
      }
    }
  }
  return uses;
}

class Instantiation {
 public:
  Instantiation(uint32_t world_size, const std::vector<std::vector<Rank>>& classes,
                std::vector<Program> programs)
      : world_size_(world_size), classes_(classes), programs_(std::move(programs)) {}

  Result<Job> run() {
    PRISM_TRY(place_ranks());
    record_communicators();
    job_.first_slot.resize(world_size_);
    uint64_t slots = 0;
    for (Rank rank = 0; rank < world_size_; ++rank) {
      job_.first_slot[rank] = slots;
      slots += job_.program(rank).communicators.size();
    }
    job_.table.assign(slots, kNone);
    for (uint32_t c = 0; c < job_.classes.size(); ++c) {
      PRISM_TRY(map_class(c));
    }
    keep_used_communicators();
    for (const Class& c : job_.classes) {
      PRISM_TRY(check_peers(c));
    }
    return std::move(job_);
  }

 private:
  Status place_ranks() {
    if (classes_.size() != programs_.size()) {
      return run_error(std::to_string(classes_.size()) + " classes, but " +
                       std::to_string(programs_.size()) + " recorded programs");
    }
    job_.world_size = world_size_;
    job_.class_of.assign(world_size_, kNone);
    job_.index_of.assign(world_size_, kNone);
    for (uint32_t c = 0; c < classes_.size(); ++c) {
      Class result;
      result.members = classes_[c];
      for (uint32_t i = 0; i < result.members.size(); ++i) {
        const Rank rank = result.members[i];
        if (rank >= world_size_) {
          return config_error("rank " + std::to_string(rank) + " in class " + std::to_string(c) +
                              " is not below the world size " + std::to_string(world_size_));
        }
        if (job_.class_of[rank] != kNone) {
          return config_error("rank " + std::to_string(rank) + " is in class " +
                              std::to_string(job_.class_of[rank]) + " and in class " +
                              std::to_string(c) + "; each rank belongs to one class");
        }
        job_.class_of[rank] = c;
        job_.index_of[rank] = i;
      }
      Program& program = programs_[c];
      if (program.world_size != world_size_) {
        return run_error("rank " + std::to_string(program.rank) + " was recorded in a world of " +
                         std::to_string(program.world_size) + ", not " +
                         std::to_string(world_size_));
      }
      PRISM_TRY(validate(program));
      if (job_.class_of[program.rank] != c) {
        return run_error("class " + std::to_string(c) + " (ranks " +
                         ranks_in_words(result.members) + ") does not contain rank " +
                         std::to_string(program.rank) + ", which was recorded for it");
      }
      result.representative = job_.index_of[program.rank];
      result.program = std::move(program);
      job_.classes.push_back(std::move(result));
    }
    const auto missing = std::find(job_.class_of.begin(), job_.class_of.end(), kNone);
    if (missing != job_.class_of.end()) {
      return config_error("rank " + std::to_string(missing - job_.class_of.begin()) +
                          " is in no class; the classes must cover all " +
                          std::to_string(world_size_) + " ranks");
    }
    return {};
  }

  void record_communicators() {
    for (const Class& c : job_.classes) {
      // In order of creation, so that "the n-th such" means the same for every rank.
      std::vector<const Communicator*> seen;
      for (const auto* list : {&c.program.communicators, &c.program.others}) {
        for (const Communicator& communicator : *list) {
          seen.push_back(&communicator);
        }
      }
      std::stable_sort(seen.begin(), seen.end(),
                       [](const auto* a, const auto* b) { return a->creation < b->creation; });
      for (const Communicator* communicator : seen) {
        register_.intern(*communicator, false);
      }
    }
    register_.index_memberships();
  }

  Status map_class(uint32_t class_index) {
    const Class& c = job_.classes[class_index];
    const Uses& uses = uses_.emplace_back(uses_of(c.program));
    for (uint32_t slot = 0; slot < c.program.communicators.size(); ++slot) {
      if (uses.first_node[slot] != kNone) {
        map_slot(c, slot);
      }
    }
    // Two slots of one rank on one communicator.
    std::unordered_map<uint32_t, uint32_t> slot_of;
    for (const Rank rank : c.members) {
      slot_of.clear();
      for (uint32_t slot = 0; slot < c.program.communicators.size(); ++slot) {
        const uint32_t index = job_.communicator(rank, slot);
        if (index == kNone) {
          continue;
        }
        const auto [first, added] = slot_of.try_emplace(index, slot);
        if (!added) {
          return mapped_twice(c, rank, first->second, slot, uses);
        }
      }
    }
    return {};
  }

  void map_slot(const Class& c, uint32_t slot) {
    const Communicator& own = c.program.communicators[slot];
    const Rank q = c.program.rank;
    const uint32_t index = register_.intern(own, false);
    std::vector<uint32_t> same_call{index};
    for (const Communicator& other : c.program.others) {
      if (other.creation == own.creation && other.description == own.description &&
          other.backend == own.backend && other.ranks.size() == own.ranks.size()) {
        same_call.push_back(register_.intern(other, false));
      }
    }
    for (const uint32_t sibling : same_call) {
      for (const Rank member : register_[sibling].ranks) {
        if (job_.class_of_rank(member).program.rank != q) {
          continue;
        }
        uint32_t& entry = job_.table[job_.first_slot[member] + slot];
        if (entry == kNone) {
          entry = sibling;
        }
      }
    }
    const uint32_t position = position_of(own, q);
    const Register::Range like_q = register_.like(index, q);
    uint32_t nth_at_position = 0;
    uint32_t nth_anywhere = 0;
    for (auto m = like_q.first; m->index != index; ++m) {
      ++nth_anywhere;
      nth_at_position += m->position == position ? 1 : 0;
    }
    for (const Rank r : c.members) {
      uint32_t& entry = job_.table[job_.first_slot[r] + slot];
      if (entry == kNone) {
        entry = recorded_for(r, index, position, like_q, nth_at_position, nth_anywhere);
      }
      if (entry == kNone) {
        entry = synthesise(r, own);
      }
    }
  }

  uint32_t recorded_for(Rank r, uint32_t index, uint32_t position, const Register::Range& like_q,
                        uint32_t nth_at_position, uint32_t nth_anywhere) const {
    const auto [begin, end] = register_.like(index, r);
    for (auto m = begin; m != end; ++m) {
      if (m->position == position && nth_at_position-- == 0) {
        return m->index;
      }
    }
    if (end - begin == like_q.second - like_q.first) {
      return (begin + nth_anywhere)->index;
    }
    return kNone;
  }

  /// All classes are shifted by the same number of replicas, each within itself, so the result is
  /// always a bijection of the ranks of `own`, and q becomes r.
  uint32_t synthesise(Rank r, const Communicator& own) {
    Communicator result = own;
    for (Rank& rank : result.ranks) {
      rank = job_.counterpart(r, rank);
    }
    if (std::is_sorted(own.ranks.begin(), own.ranks.end())) {
      std::sort(result.ranks.begin(), result.ranks.end());
    }
    return register_.intern(result, true);
  }

  Status mapped_twice(const Class& c, Rank rank, uint32_t slot_a, uint32_t slot_b,
                      const Uses& uses) const {
    const Communicator& common = register_[job_.communicator(rank, slot_a)];
    return run_error("rank " + std::to_string(rank) + " cannot be derived from rank " +
                     std::to_string(c.program.rank) + " of its class (ranks " +
                     ranks_in_words(c.members) + "): two communicators of rank " +
                     std::to_string(c.program.rank) + ", " +
                     describe(c.program.communicators[slot_a]) + " and " +
                     describe(c.program.communicators[slot_b]) + ", would both be " +
                     describe(common) + " for rank " + std::to_string(rank) + "; used at " +
                     describe_node(c.program, uses.first_node[slot_a]) + " and " +
                     describe_node(c.program, uses.first_node[slot_b]) +
                     "; put ranks whose groups differ into different classes");
  }

  void keep_used_communicators() {
    std::vector<uint32_t> kept(register_.size(), kNone);
    for (uint32_t& entry : job_.table) {
      if (entry == kNone) {
        continue;
      }
      if (kept[entry] == kNone) {
        kept[entry] = static_cast<uint32_t>(job_.communicators.size());
        job_.communicators.push_back(register_.take(entry));
      }
      entry = kept[entry];
    }
  }

  Status check_peers(const Class& c) const {
    const Uses& uses = uses_[job_.class_of[c.program.rank]];
    for (const Uses::Peer& use : uses.peers) {
      const Communicator& own = c.program.communicators[use.slot];
      const Rank recorded = own.ranks[static_cast<size_t>(use.position)];
      for (const Rank rank : c.members) {
        const Rank peer = job_.counterpart(rank, recorded);
        const Communicator& mapped = job_.communicators[job_.communicator(rank, use.slot)];
        if (position_of(mapped, peer) == kNone) {
          return run_error(
              "rank " + std::to_string(rank) + " cannot be derived from rank " +
              std::to_string(c.program.rank) + " of its class (ranks " + ranks_in_words(c.members) +
              "): where rank " + std::to_string(c.program.rank) + " talks to rank " +
              std::to_string(recorded) + " on " + describe(own) + ", rank " + std::to_string(rank) +
              " would talk to rank " + std::to_string(peer) + ", which is not in " +
              describe(mapped) + "; at " + describe_node(c.program, use.node) +
              "; classes must list their ranks so that the i-th members of all classes belong "
              "together");
        }
      }
    }
    return {};
  }

  uint32_t world_size_;
  const std::vector<std::vector<Rank>>& classes_;
  std::vector<Program> programs_;
  Job job_;
  Register register_;
  std::vector<Uses> uses_;  ///< by class
};

/// Compares two programs of a class in words that name both ranks.
class Comparison {
 public:
  Comparison(const Job& job, const Program& executed)
      : job_(job), expected_(job.program(executed.rank)), executed_(executed) {}

  Status run() const {
    if (executed_.iterations != expected_.iterations) {
      return differ("iterations: " + std::to_string(expected_.iterations) + " and " +
                    std::to_string(executed_.iterations));
    }
    const size_t common = std::min(expected_.nodes.size(), executed_.nodes.size());
    for (uint32_t id = 0; id < common; ++id) {
      if (!same_node(id)) {
        return differ_at(id);
      }
    }
    if (expected_.nodes.size() != executed_.nodes.size()) {
      const bool longer = expected_.nodes.size() > executed_.nodes.size();
      const Program& program = longer ? expected_ : executed_;
      return differ(std::to_string(expected_.nodes.size()) + " and " +
                    std::to_string(executed_.nodes.size()) + " nodes; only rank " +
                    std::to_string(program.rank) + " has " +
                    describe_node(program, static_cast<uint32_t>(common)));
    }
    return {};
  }

 private:
  Status differ(const std::string& what) const {
    const Class& c = job_.class_of_rank(executed_.rank);
    return run_error("ranks " + std::to_string(expected_.rank) + " and " +
                     std::to_string(executed_.rank) + " are in one class (ranks " +
                     ranks_in_words(c.members) + ") but do not behave alike: " + what +
                     "; put them into different classes, or use classes = \"none\"; where it comes "
                     "of a made-up value (the size of a broadcast object, say), a [[collect.rule]] "
                     "can say what the peers would have sent");
  }
  Status differ_at(uint32_t id) const {
    return differ("in iteration " + std::to_string(executed_.nodes[id].iteration) +
                  ", going by rank " + std::to_string(expected_.rank) + ", expected " +
                  describe_node(job_, executed_.rank, id) + details(id, true) + "; found " +
                  describe_node(executed_, id) + details(id, false));
  }
  /// What two equal descriptions differ in.
  std::string details(uint32_t id, bool expected) const {
    const Program& program = expected ? expected_ : executed_;
    const Node& node = program.nodes[id];
    std::string text = " [iteration " + std::to_string(node.iteration) + ", after";
    for (uint32_t d = 0; d < node.dependency_count; ++d) {
      text += ' ';
      text += std::to_string(program.dependencies[node.first_dependency + d]);
    }
    if (node.dependency_count == 0) {
      text += " none";
    }
    if (node.kind == Kind::Batch) {
      for (uint32_t p = node.first_part; p < node.first_part + node.part_count; ++p) {
        const Part& part = program.parts[p];
        const Communicator& own = program.communicators[part.communicator];
        text += std::string("; ") + to_string(part.kind) + " " + std::to_string(part.bytes) + " " +
                dtype_name(part.dtype) + " tag " + std::to_string(part.tag);
        if (part.peer != kAnySource) {
          const Rank peer = own.ranks[static_cast<size_t>(part.peer)];
          text +=
              " with " + std::to_string(expected ? job_.counterpart(executed_.rank, peer) : peer);
        }
      }
    } else if (is_collective(node.kind)) {
      const uint32_t mapped = job_.communicator(executed_.rank, node.communicator);
      text +=
          "; " + describe(expected && mapped != kNone ? job_.communicators[mapped]
                                                      : program.communicators[node.communicator]);
    }
    return text + "]";
  }

  bool same_communicator(uint32_t expected_slot, uint32_t executed_slot) const {
    const Communicator& actual = executed_.communicators[executed_slot];
    return same_key(job_.communicators[job_.communicator(executed_.rank, expected_slot)], actual);
  }
  bool same_part(const Part& a, const Part& b) const {
    if (a.kind != b.kind || a.tag != b.tag || a.bytes != b.bytes || a.dtype != b.dtype ||
        !same_communicator(a.communicator, b.communicator) ||
        (a.peer == kAnySource) != (b.peer == kAnySource)) {
      return false;
    }
    return a.peer == kAnySource ||
           job_.peer(executed_.rank, a) ==
               executed_.communicators[b.communicator].ranks[static_cast<size_t>(b.peer)];
  }
  bool same_node(uint32_t id) const {
    const Node& a = expected_.nodes[id];
    const Node& b = executed_.nodes[id];
    const auto shape = [](const Node& n) {
      return std::tie(n.kind, n.dtype, n.reduction, n.sequence, n.root, n.input_bytes,
                      n.output_bytes, n.part_count, n.of, n.dependency_count, n.iteration, n.lane);
    };
    if (shape(a) != shape(b) || expected_.lanes[a.lane].kind != executed_.lanes[b.lane].kind ||
        !std::equal(expected_.dependencies.begin() + a.first_dependency,
                    expected_.dependencies.begin() + a.first_dependency + a.dependency_count,
                    executed_.dependencies.begin() + b.first_dependency)) {
      return false;
    }
    if (is_collective(a.kind) && !same_communicator(a.communicator, b.communicator)) {
      return false;
    }
    for (uint32_t p = 0; has_parts(a.kind) && p < a.part_count; ++p) {
      if (!same_part(expected_.parts[a.first_part + p], executed_.parts[b.first_part + p])) {
        return false;
      }
    }
    return true;
  }

  const Job& job_;
  const Program& expected_;
  const Program& executed_;
};

}  // namespace

uint32_t position_of(const Communicator& communicator, Rank rank) {
  const auto& ranks = communicator.ranks;
  // Almost all groups are sorted: try that before looking at each.
  auto found = std::lower_bound(ranks.begin(), ranks.end(), rank);
  if (found == ranks.end() || *found != rank) {
    if (std::is_sorted(ranks.begin(), ranks.end())) {
      return kNone;
    }
    found = std::find(ranks.begin(), ranks.end(), rank);
  }
  return found == ranks.end() ? kNone : static_cast<uint32_t>(found - ranks.begin());
}

Result<Job> instantiate(uint32_t world_size, const std::vector<std::vector<Rank>>& classes,
                        std::vector<Program> programs) {
  return Instantiation(world_size, classes, std::move(programs)).run();
}

Status compare_structure(const Job& job, const Program& executed) {
  if (executed.rank >= job.world_size || executed.world_size != job.world_size) {
    return run_error("rank " + std::to_string(executed.rank) + " was recorded in a world of " +
                     std::to_string(executed.world_size) + ", not " +
                     std::to_string(job.world_size));
  }
  PRISM_TRY(validate(executed));
  return Comparison(job, executed).run();
}

}  // namespace prism::graph
