// SPDX-License-Identifier: Apache-2.0
#include "core/graph/file/job_codec.hpp"

#include <numeric>
#include <string>

#include "core/graph/file/program_codec.hpp"

namespace prism::graph::file {
namespace {

constexpr uint64_t kClassMemory = 512;
constexpr uint64_t kRankMemory = 40;  ///< class, index, first slot, member, and while it is read
constexpr uint64_t kSlotMemory = 12;

template <typename Archive, typename Kind>
void code_kind(Archive& archive, Kind& kind, std::vector<uint64_t>& sizes,
               std::vector<uint64_t>& members) {
  archive.number("ranks", kind.world_size);
  archive.list("classes", kind.classes, kClassMemory);
  auto& classes = kind.classes;
  sizes.resize(classes.size());
  archive.values("sizes of classes", sizes, {});
  archive.column(
      "representatives", classes, [](auto& c) -> auto& { return c.representative; });
  archive.column(
      "structures", classes, [](auto& c) -> auto& { return c.structure; });
  archive.column(
      "communicators", classes, [](auto& c) -> auto& { return c.communicators; });
  archive.column(
      "own times", classes, [](auto& c) -> auto& { return c.own_times; });
  archive.column(
      "nodes", classes, [](auto& c) -> auto& { return c.nodes; });
  archive.column(
      "parts", classes, [](auto& c) -> auto& { return c.parts; });
  archive.column(
      "slots", classes, [](auto& c) -> auto& { return c.slots; });
  members.resize(archive.count("members", members.size(), kRankMemory));
  archive.values("members", members, {});
  archive.list("counted iterations", kind.counted, 12);
  archive.column(
      "counted iterations", kind.counted, [](auto& i) -> auto& { return i; });
  archive.text("difference", kind.difference);
}

/// From the list of all members to the classes; each rank is in one.
void place_members(Decoder& from, KindShape& kind, const std::vector<uint64_t>& sizes,
                   const std::vector<uint64_t>& members) {
  if (members.size() != kind.world_size) {
    from.fail(std::to_string(members.size()) + " members of classes, expected " +
              std::to_string(kind.world_size));
    return;
  }
  kind.class_of.assign(kind.world_size, kNone);
  size_t next = 0;
  for (uint32_t c = 0; c < kind.classes.size(); ++c) {
    ClassShape& its = kind.classes[c];
    if (sizes[c] > members.size() - next || its.representative >= sizes[c]) {
      from.fail("class " + std::to_string(c) + " has " + std::to_string(sizes[c]) +
                " members, expected at most " + std::to_string(members.size() - next) +
                " and more than its representative's place " + std::to_string(its.representative));
      return;
    }
    its.members.reserve(sizes[c]);
    for (uint64_t i = 0; i < sizes[c]; ++i, ++next) {
      const uint64_t rank = members[next];
      if (rank >= kind.world_size || kind.class_of[rank] != kNone) {
        from.fail("rank " + std::to_string(rank) + " of class " + std::to_string(c) +
                  " is in another class too, or not below the world size");
        return;
      }
      kind.class_of[rank] = c;
      its.members.push_back(static_cast<Rank>(rank));
    }
  }
  if (next != members.size()) {
    from.fail("there are members of no class");
  }
}

/// Calls `visit(entry)` for each entry of the table by class, slot and member: members of a class
/// use groups that follow one another, so that this order leaves little.
template <typename Visit>
void for_each_slot(const Job& job, Visit visit) {
  for (const Class& c : job.classes) {
    for (size_t slot = 0; slot < c.program.communicators.size(); ++slot) {
      for (const Rank rank : c.members) {
        visit(job.first_slot[rank] + slot);
      }
    }
  }
}

}  // namespace

void encode_kind(Encoder& to, const KindShape& kind) {
  std::vector<uint64_t> sizes;
  std::vector<uint64_t> members;
  sizes.reserve(kind.classes.size());
  for (const ClassShape& c : kind.classes) {
    sizes.push_back(c.members.size());
    members.insert(members.end(), c.members.begin(), c.members.end());
  }
  code_kind(to, kind, sizes, members);
}

void decode_kind(Decoder& from, KindShape& kind) {
  std::vector<uint64_t> sizes;
  std::vector<uint64_t> members;
  code_kind(from, kind, sizes, members);
  if (from.ok()) {
    place_members(from, kind, sizes, members);
  }
}

void place_ranks(Job& job) {
  job.class_of.assign(job.world_size, kNone);
  job.index_of.assign(job.world_size, kNone);
  for (uint32_t c = 0; c < job.classes.size(); ++c) {
    for (uint32_t i = 0; i < job.classes[c].members.size(); ++i) {
      job.class_of[job.classes[c].members[i]] = c;
      job.index_of[job.classes[c].members[i]] = i;
    }
  }
  job.first_slot.resize(job.world_size);
  uint64_t slots = 0;
  for (Rank rank = 0; rank < job.world_size; ++rank) {
    job.first_slot[rank] = slots;
    slots += job.program(rank).communicators.size();
  }
}

void encode_groups(Encoder& to, const Job& job) {
  code_communicators(to, job.communicators);
  to.column(
      "derived", job.communicators, [](auto& c) -> auto& { return c.synthesised; });
  std::vector<uint64_t> table;
  table.reserve(job.table.size());
  for_each_slot(job, [&](uint64_t entry) { table.push_back(index_to_file(job.table[entry])); });
  to.count("slots", table.size(), kSlotMemory);
  to.values("slots", table, {});
}

void decode_groups(Decoder& from, Job& job) {
  code_communicators(from, job.communicators);
  from.column(
      "derived", job.communicators, [](auto& c) -> auto& { return c.synthesised; });
  std::vector<uint64_t> table(from.count("slots", 0, kSlotMemory));
  from.values("slots", table, {});
  uint64_t slots = 0;
  for (const Class& c : job.classes) {
    slots += c.members.size() * c.program.communicators.size();
  }
  if (from.ok() && table.size() != slots) {
    from.fail(std::to_string(table.size()) + " slots, expected " + std::to_string(slots));
  }
  if (!from.ok()) {
    return;
  }
  job.table.assign(slots, kNone);
  size_t next = 0;
  for_each_slot(job, [&](uint64_t entry) {
    const uint64_t communicator = table[next++];
    if (communicator > job.communicators.size()) {
      from.fail("a slot stands for communicator " + std::to_string(communicator - 1) + " of " +
                std::to_string(job.communicators.size()));
    }
    job.table[entry] = static_cast<uint32_t>(communicator - 1);
  });
}

}  // namespace prism::graph::file
