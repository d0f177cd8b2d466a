// SPDX-License-Identifier: Apache-2.0
/// All ranks of a job, made from a few recorded ones.
///
/// Ranks of a class have the same structure, which is stored once, as its representative recorded
/// it. What differs per rank is found by the rule of architecture 5: the communicator that a slot
/// of the structure stands for (a table), and the peer of a message (computed when asked for).
/// Memory: the recorded programs, one number per rank and used communicator, and the communicators.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/status.hpp"
#include "core/graph/program.hpp"

namespace prism::graph {

/// Ranks that behave alike, in an order: the i-th members of all classes form replica i.
struct Class {
  std::vector<Rank> members;
  uint32_t representative = 0;  ///< position in `members` of the rank that was recorded
  Program program;
};

/// A communicator of the job. Its index in Job::communicators names it.
struct JobCommunicator : Communicator {
  bool synthesised = false;  ///< no program recorded it: it was derived from a recorded one
};

struct Job {
  uint32_t world_size = 0;
  std::vector<Class> classes;
  std::vector<JobCommunicator> communicators;  ///< those that a node uses
  std::vector<uint32_t> class_of;              ///< by rank
  std::vector<uint32_t> index_of;              ///< by rank: position in its class
  std::vector<uint64_t> first_slot;            ///< by rank: where its slots begin in `table`
  std::vector<uint32_t> table;  ///< by slot: index into `communicators`; kNone: no node uses it

  const Class& class_of_rank(Rank rank) const { return classes[class_of[rank]]; }
  const Program& program(Rank rank) const { return class_of_rank(rank).program; }
  Rank representative(Rank rank) const {
    const Class& c = class_of_rank(rank);
    return c.members[c.representative];
  }
  /// What `slot` (an index into Program::communicators) stands for at `rank`.
  uint32_t communicator(Rank rank, uint32_t slot) const { return table[first_slot[rank] + slot]; }
  /// The rank that stands to `rank` as `other` stands to the representative of rank's class.
  Rank counterpart(Rank rank, Rank other) const {
    const Class& own = class_of_rank(rank);
    const Class& its = class_of_rank(other);
    const auto size = static_cast<uint32_t>(its.members.size());
    // (k + j - i) mod size, with all terms kept below size.
    const uint64_t k = index_of[other];
    const uint64_t j = index_of[rank] % size;
    const uint64_t i = own.representative % size;
    return its.members[(k + j + size - i) % size];
  }
  /// The rank that a part (of the program of rank's class) of `rank` sends to or receives from;
  /// not for kAnySource.
  Rank peer(Rank rank, const Part& part) const {
    const Communicator& recorded = program(rank).communicators[part.communicator];
    return counterpart(rank, recorded.ranks[static_cast<size_t>(part.peer)]);
  }
};

/// `classes` are disjoint and cover 0 .. world_size - 1; `programs[c]` was recorded by a member of
/// `classes[c]`. Errors name the representative, the member, the communicator, the lane and the
/// node that cannot be mapped.
///
/// The rule of architecture 5 for member r (index j) of a class with representative q (index i): a
/// communicator that q uses maps to
///   1. itself, or another one of the same creation call, if it contains r; else
///   2. the recorded one (by any program, member or not) of the same description, backend and size
///      that has r at q's position: the n-th such for r if it is the n-th such for q; else, where q
///      and r are in equally many of that description, backend and size at whatever positions, the
///      n-th of them (a mesh of which q and r lie on different edges); else
///   3. a synthesised one: each of its ranks p, member k of class C, becomes
///      C[(k + j - i) mod |C|]. Sorted if q's is sorted, so that all members derive the same list.
/// Two communicators of q that map to one, or a peer outside the mapped communicator, are errors.
/// A root keeps its group position.
Result<Job> instantiate(uint32_t world_size, const std::vector<std::vector<Rank>>& classes,
                        std::vector<Program> programs);

/// Whether `executed`, the recorded program of another member, equals what `job` says of that rank,
/// in structure and sizes; durations and names of communicators are free. The first difference is
/// named with both ranks.
Status compare_structure(const Job& job, const Program& executed);

/// Group position of `rank`, or kNone.
uint32_t position_of(const Communicator& communicator, Rank rank);

}  // namespace prism::graph
