// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/random_job.hpp"

#include <algorithm>
#include <functional>
#include <random>
#include <utility>

#include "core/graph/builder.hpp"

namespace prism::reference {
namespace {

using graph::Builder;
using graph::Collective;
using graph::Communicator;
using graph::Kind;
using graph::LaneKind;
using graph::Part;

/// Communicators that were made together: each rank of a class that takes part is in one of them.
struct Family {
  std::string description;
  std::string backend;
  std::vector<std::vector<Rank>> groups;
  std::vector<uint32_t> slot;  ///< by class: its representative's; kNone: not in it
};

/// What one class adds to its program for an operation of the job.
using Emit = std::function<void(uint32_t c)>;
struct Operation {
  std::vector<uint32_t> classes;
  Emit emit;
};

class Generator {
 public:
  Generator(uint64_t seed, uint32_t most_ranks) : random_(seed), most_ranks_(most_ranks) {}

  RandomJob run() {
    make_classes();
    make_families();
    for (uint32_t c = 0; c < out_.classes.size(); ++c) {
      make_builder(c);
    }
    std::vector<Operation> operations;
    const uint64_t count = 5 + below(36);
    for (uint64_t i = 0; i < count; ++i) {
      operations.push_back(make_operation());
    }
    emit(operations);
    for (Builder& builder : builders_) {
      out_.programs.push_back(std::move(builder).finish());
      for (graph::Node& node : out_.programs.back().nodes) {
        node.gap = chance(20) ? duration() : 0;
      }
    }
    out_.eager_bytes = pick<uint64_t>({0, 64, 1000, 65536});
    if (chance(50)) {
      make_links();
    }
    return std::move(out_);
  }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }
  uint32_t below32(uint64_t n) { return static_cast<uint32_t>(below(n)); }
  bool chance(uint64_t percent) { return below(100) < percent; }
  template <typename T>
  T pick(const std::vector<T>& values) {
    return values[below(values.size())];
  }
  template <typename T>
  void shuffle(std::vector<T>& values) {
    for (size_t i = values.size(); i > 1; --i) {
      std::swap(values[i - 1], values[below(i)]);
    }
  }
  /// Small numbers and zeros, so that ties are frequent.
  DurationNs duration() {
    return pick<DurationNs>({0, 0, 1, 5, 5, 10, static_cast<DurationNs>(below(1000))});
  }
  uint64_t bytes() { return pick<uint64_t>({0, 1, 8, 64, 1000, 4096, below(1 << 22)}); }
  size_t class_count() const { return out_.classes.size(); }

  void make_classes() {
    const uint64_t classes = 1 + below(4);
    same_size_ = chance(75);
    const uint64_t size = 1 + below(most_ranks_ / classes);
    std::vector<uint64_t> sizes;
    for (uint64_t c = 0; c < classes; ++c) {
      sizes.push_back(same_size_ ? size : 1 + below(most_ranks_ / classes));
      out_.world_size += static_cast<uint32_t>(sizes.back());
    }
    std::vector<Rank> ranks;
    for (Rank rank = 0; rank < out_.world_size; ++rank) {
      ranks.push_back(rank);
    }
    if (chance(50)) {
      shuffle(ranks);
    }
    auto next = ranks.begin();
    for (const uint64_t members : sizes) {
      out_.classes.emplace_back(next, next + static_cast<int64_t>(members));
      next += static_cast<int64_t>(members);
      representative_.push_back(below32(members));
    }
  }

  void make_families() {
    // Groups that only their members see are derived, and must be sorted to be so alike.
    local_ = chance(40);
    std::vector<Rank> world;
    for (Rank rank = 0; rank < out_.world_size; ++rank) {
      world.push_back(rank);
    }
    add_family("world", {world});
    if (chance(30)) {
      add_family("world", {world});
    }
    if (chance(70)) {
      add_family("class", out_.classes);
    }
    if (same_size_ && chance(70)) {
      std::vector<std::vector<Rank>> groups(out_.classes.front().size());
      for (size_t j = 0; j < groups.size(); ++j) {
        for (const auto& members : out_.classes) {
          groups[j].push_back(members[j]);
        }
      }
      add_family("replica", groups);
    }
    if (same_size_ && class_count() > 1 && chance(60)) {
      std::vector<std::vector<Rank>> groups;
      for (size_t j = 0; j < out_.classes.front().size(); ++j) {
        groups.push_back({out_.classes[0][j], out_.classes[1][j]});
      }
      add_family("pair", groups);
    }
  }

  void add_family(const std::string& description, std::vector<std::vector<Rank>> groups) {
    for (auto& group : groups) {
      std::sort(group.begin(), group.end());
      if (!local_ && chance(10)) {
        shuffle(group);
      }
    }
    families_.push_back({description, chance(50) ? "gloo" : "nccl", std::move(groups), {}});
  }

  void make_builder(uint32_t c) {
    const Rank rank = out_.classes[c][representative_[c]];
    Builder builder(rank, out_.world_size);
    for (Family& family : families_) {
      family.slot.push_back(graph::kNone);
      for (const auto& group : family.groups) {
        const bool member = std::find(group.begin(), group.end(), rank) != group.end();
        Communicator communicator{family.description + "_of_" + std::to_string(group.front()),
                                  family.description, family.backend, group};
        if (member) {
          family.slot.back() = builder.add_communicator(std::move(communicator));
        } else if (!local_) {
          builder.add_other(std::move(communicator));
        }
      }
    }
    const uint64_t cpus = chance(25) ? 2 : 1;
    for (uint64_t i = 0; i < cpus; ++i) {
      builder.add_lane(LaneKind::Cpu, "cpu:" + std::to_string(i));
    }
    const uint64_t others = below(4);
    for (uint64_t i = 0; i < others; ++i) {
      builder.add_lane(chance(50) ? LaneKind::Comm : LaneKind::Stream, "lane:" + std::to_string(i));
    }
    builders_.push_back(std::move(builder));
  }

  // ---- Operations ----

  uint32_t any_lane(uint32_t c) { return below32(builders_[c].program().lanes.size()); }
  /// A lane that stays the same for a family, mostly: order on it is then that of the program.
  uint32_t lane_for(uint32_t c, size_t family) {
    return chance(80)
               ? static_cast<uint32_t>((family * 7 + c) % builders_[c].program().lanes.size())
               : any_lane(c);
  }
  std::vector<uint32_t> dependencies(uint32_t c) {
    std::vector<uint32_t> result;
    const auto nodes = static_cast<uint32_t>(builders_[c].program().nodes.size());
    while (nodes != 0 && chance(35)) {
      result.push_back(nodes - 1 - below32(std::min<uint32_t>(nodes, 6)));
    }
    return result;
  }
  void maybe_transfer(uint32_t c, uint32_t node) {
    if (chance(30)) {
      builders_[c].add_transfer(0, node, duration(), dependencies(c));
    }
  }
  std::vector<uint32_t> members_of(const Family& family) const {
    std::vector<uint32_t> classes;
    for (uint32_t c = 0; c < class_count(); ++c) {
      if (family.slot[c] != graph::kNone) {
        classes.push_back(c);
      }
    }
    return classes;
  }

  Operation make_operation() {
    switch (below(10)) {
      case 0:
      case 1:
      case 2:
        return compute();
      case 3:
      case 4:
      case 5:
      case 6:
        return collective();
      case 7:
        return inside_a_class();
      case 8:
        return across_classes();
      default:
        return from_any_source();
    }
  }

  Operation compute() {
    const uint32_t c = below32(class_count());
    return {{c}, [this](uint32_t at) {
              builders_[at].add_compute(any_lane(at), duration(), dependencies(at));
            }};
  }

  Operation collective() {
    const size_t f = below(families_.size());
    const auto kind = static_cast<Kind>(PRISM_COMM_ALL_REDUCE + below(9));
    const uint64_t size = families_[f].groups.front().size();
    const auto root = static_cast<int32_t>(below(size));
    const uint64_t share = bytes();
    return {members_of(families_[f]), [=, this](uint32_t c) {
              Collective node{kind, families_[f].slot[c], PRISM_DTYPE_F32};
              const bool rooted = graph::has_root(kind);
              const auto& group = builders_[c].program().communicators[node.communicator].ranks;
              const uint64_t members = group.size();
              node.root = rooted ? root % static_cast<int32_t>(members) : -1;
              const uint64_t whole = share * members;
              const bool gathers = kind == Kind::AllGather || kind == Kind::Gather;
              const bool scatters = kind == Kind::ReduceScatter || kind == Kind::Scatter;
              node.input_bytes = gathers ? share : whole;
              node.output_bytes = scatters ? share : whole;
              node.duration = duration();
              maybe_transfer(c, builders_[c].add_collective(lane_for(c, f), node, dependencies(c)));
            }};
  }

  Part part(Kind kind, uint32_t c, size_t f, Rank peer, int32_t tag, uint64_t size) {
    const uint32_t slot = families_[f].slot[c];
    const auto& ranks = builders_[c].program().communicators[slot].ranks;
    Part result;
    result.kind = kind;
    result.communicator = slot;
    result.peer = static_cast<int32_t>(std::find(ranks.begin(), ranks.end(), peer) - ranks.begin());
    result.tag = tag;
    result.bytes = size;
    result.dtype = PRISM_DTYPE_F32;
    result.duration = duration();
    return result;
  }
  /// One node for each part, or a batch of them.
  void add_parts(uint32_t c, size_t f, const std::vector<Part>& parts) {
    if (chance(80)) {
      maybe_transfer(c, builders_[c].add_batch(lane_for(c, f), parts, dependencies(c)));
      return;
    }
    for (const Part& p : parts) {
      maybe_transfer(c, builders_[c].add_message(lane_for(c, f), p, dependencies(c)));
    }
  }
  /// The member `shift` places after the representative.
  Rank neighbour(uint32_t c, size_t shift) const {
    const auto& members = out_.classes[c];
    return members[(representative_[c] + shift) % members.size()];
  }

  /// Each member sends to the one `shift` places further. All sends first is a deadlock, often.
  Operation inside_a_class() {
    const uint32_t c = below32(class_count());
    const size_t size = out_.classes[c].size();
    if (size < 2) {
      return compute();
    }
    const size_t f = families_.size() > 1 && families_[1].description == "class" ? below(2) : 0;
    const size_t shift = 1 + below(size - 1);
    const auto tag = static_cast<int32_t>(below(3));
    const uint64_t length = bytes();
    return {{c}, [=, this](uint32_t at) {
              std::vector<Part> parts{
                  part(Kind::Send, at, f, neighbour(at, shift), tag, length),
                  part(Kind::Recv, at, f, neighbour(at, size - shift), tag, length)};
              if (chance(50)) {
                std::swap(parts[0], parts[1]);
              }
              add_parts(at, f, parts);
            }};
  }

  /// Members of one class send to those of another.
  Operation across_classes() {
    if (!same_size_ || class_count() < 2) {
      return collective();
    }
    size_t f = below(families_.size());
    if (families_[f].description == "class") {
      f = 0;
    }
    const bool pair = families_[f].description == "pair";
    const uint32_t from = pair ? below32(2) : below32(class_count());
    const uint32_t to =
        pair ? 1 - from
             : static_cast<uint32_t>((from + 1 + below(class_count() - 1)) % class_count());
    const size_t size = out_.classes[from].size();
    const size_t shift = families_[f].description == "world" ? below(size) : 0;
    const auto tag = static_cast<int32_t>(below(3));
    const uint64_t length = bytes();
    const uint64_t messages = 1 + below(3);
    // The i-th member of one class and the i-th of the other belong together.
    return {
        {from, to}, [=, this](uint32_t at) {
          const bool sends = at == from;
          const auto& others = out_.classes[sends ? to : from];
          const Rank peer = others[(representative_[at] + (sends ? shift : size - shift)) % size];
          std::vector<Part> parts;
          for (uint64_t i = 0; i < messages; ++i) {
            parts.push_back(part(sends ? Kind::Send : Kind::Recv, at, f, peer, tag, length + i));
          }
          add_parts(at, f, parts);
        }};
  }

  /// Members of one class receive from the same members of all others, in any order.
  Operation from_any_source() {
    if (!same_size_ || class_count() < 2) {
      return collective();
    }
    size_t f = below(families_.size());
    const std::string& description = families_[f].description;
    if (description != "world" && description != "replica") {
      f = 0;
    }
    if (families_[f].backend == "nccl") {
      return collective();
    }
    const uint32_t to = below32(class_count());
    const auto tag = static_cast<int32_t>(100 + to);
    std::vector<uint32_t> all;
    for (uint32_t c = 0; c < class_count(); ++c) {
      all.push_back(c);
    }
    return {all, [=, this](uint32_t at) {
              if (at != to) {
                add_parts(
                    at, f,
                    {part(Kind::Send, at, f, out_.classes[to][representative_[at]], tag, 64)});
                return;
              }
              std::vector<Part> parts;
              for (size_t i = 1; i < class_count(); ++i) {
                Part receive = part(Kind::Recv, at, f, out_.classes[to][0], tag, 64);
                receive.peer = graph::kAnySource;
                parts.push_back(receive);
              }
              add_parts(at, f, parts);
            }};
  }

  void emit(std::vector<Operation>& operations) {
    const uint64_t iterations = 1 + below(3);
    std::vector<std::vector<size_t>> order(class_count());
    for (size_t i = 0; i < operations.size(); ++i) {
      for (const uint32_t c : operations[i].classes) {
        order[c].push_back(i);
      }
    }
    if (chance(20)) {
      damage(order[below(class_count())]);
    }
    for (uint32_t c = 0; c < class_count(); ++c) {
      uint64_t iteration = 0;
      for (const size_t i : order[c]) {
        for (; iteration < i * iterations / operations.size(); ++iteration) {
          builders_[c].next_iteration();
        }
        operations[i].emit(c);
      }
    }
  }

  void damage(std::vector<size_t>& order) {
    if (order.size() < 2) {
      return;
    }
    out_.damaged = true;
    const size_t at = below(order.size() - 1);
    if (chance(75)) {
      std::swap(order[at], order[at + 1]);
    } else {
      order.erase(order.begin() + static_cast<int64_t>(at));
    }
  }

  void make_links() {
    for (const Family& family : families_) {
      out_.links[family.description] = {
          static_cast<int64_t>(below(30000)), chance(20) ? 0 : 1 + below(20'000'000'000),
          static_cast<int64_t>(below(500)), chance(50) ? 0 : 1 + below(20'000'000'000),
          chance(50) ? 0 : 1 + below(20'000'000'000)};
    }
  }

  std::mt19937_64 random_;
  const uint32_t most_ranks_;
  RandomJob out_;
  bool same_size_ = false;
  bool local_ = false;
  std::vector<uint32_t> representative_;  ///< by class: index
  std::vector<Family> families_;
  std::vector<Builder> builders_;  ///< by class
};

}  // namespace

RandomJob random_job(uint64_t seed, uint32_t most_ranks) {
  return Generator(seed, most_ranks).run();
}

}  // namespace prism::reference
