// SPDX-License-Identifier: Apache-2.0
#include "core/graph/file/model_check.hpp"

#include <algorithm>
#include <unordered_set>

#include "core/graph/describe.hpp"
#include "core/graph/file/program_codec.hpp"
#include "core/graph/validate.hpp"

namespace prism::graph::file {
namespace {

Status bad(const std::string& where, const std::string& what) {
  return run_error(where + ": " + what, Code::DataLoss);
}

std::string of_rank(Rank rank) {
  return "rank " + std::to_string(rank);
}

class JobCheck {
 public:
  JobCheck(const Job& job, const std::string& where) : job_(job), where_(where) {}

  Status run() {
    PRISM_TRY(check_places());
    PRISM_TRY(check_communicators());
    for (const Class& c : job_.classes) {
      PRISM_TRY(check_recorded(c));
      PRISM_TRY(check_slots(c));
      PRISM_TRY(check_peers(c));
    }
    return {};
  }

 private:
  Status check_places() const {
    const size_t ranks = job_.world_size;
    if (job_.class_of.size() != ranks || job_.index_of.size() != ranks ||
        job_.first_slot.size() != ranks) {
      return bad(where_, "the ranks of the job are not placed in its classes");
    }
    size_t members = 0;
    uint64_t slots = 0;
    for (uint32_t c = 0; c < job_.classes.size(); ++c) {
      const Class& its = job_.classes[c];
      members += its.members.size();
      slots += its.members.size() * its.program.communicators.size();
      for (uint32_t i = 0; i < its.members.size(); ++i) {
        const Rank rank = its.members[i];
        if (rank >= ranks || job_.class_of[rank] != c || job_.index_of[rank] != i) {
          return bad(where_, "class " + std::to_string(c) + " contains " + of_rank(rank) +
                                 ", which is placed elsewhere");
        }
      }
      if (its.representative >= its.members.size()) {
        return bad(where_, "class " + std::to_string(c) + " has no representative");
      }
    }
    if (members != ranks) {
      return bad(where_, "the classes have " + std::to_string(members) + " members, expected " +
                             std::to_string(ranks));
    }
    uint64_t next = 0;
    for (Rank rank = 0; rank < ranks; ++rank) {
      if (job_.first_slot[rank] != next) {
        return bad(where_, "the slots of " + of_rank(rank) + " do not begin where they must");
      }
      next += job_.program(rank).communicators.size();
    }
    if (job_.table.size() != slots) {
      return bad(where_, "the job has " + std::to_string(job_.table.size()) + " slots, expected " +
                             std::to_string(slots));
    }
    return {};
  }

  Status check_communicators() {
    for (uint32_t c = 0; c < job_.communicators.size(); ++c) {
      const Communicator& its = job_.communicators[c];
      if (its.ranks.empty()) {
        return bad(where_, "communicator " + std::to_string(c) + " has no member");
      }
      for (const Rank rank : its.ranks) {
        if (rank >= job_.world_size || !members_.insert(key(c, rank)).second) {
          return bad(where_, "communicator " + std::to_string(c) + " contains " + of_rank(rank) +
                                 " twice, or it is not below the world size " +
                                 std::to_string(job_.world_size));
        }
      }
    }
    return {};
  }

  Status check_recorded(const Class& c) const {
    const Program& program = c.program;
    if (program.rank != c.members[c.representative] || program.world_size != job_.world_size) {
      return bad(where_, "the program of " + of_rank(program.rank) +
                             " is not that of the representative of its class");
    }
    return check_program(program, where_);
  }

  /// Slots that nodes use stand for communicators that contain the rank, each for another one.
  Status check_slots(const Class& c) const {
    const size_t slots = c.program.communicators.size();
    std::vector<bool> used(slots, false);
    for (const Node& node : c.program.nodes) {
      if (is_collective(node.kind)) {
        used[node.communicator] = true;
      }
    }
    for (const Part& part : c.program.parts) {
      if (part.communicator >= slots) {
        return bad(where_, "a part of the program of " + of_rank(c.program.rank) +
                               " uses an unknown communicator");
      }
      used[part.communicator] = true;
    }
    std::unordered_set<uint32_t> seen;
    for (const Rank rank : c.members) {
      seen.clear();
      for (uint32_t slot = 0; slot < slots; ++slot) {
        const uint32_t mapped = job_.communicator(rank, slot);
        const auto wrong = [&](const char* what) {
          return bad(where_, "slot " + std::to_string(slot) + " of " + of_rank(rank) + " " + what);
        };
        if (mapped == kNone) {
          if (used[slot]) {
            return wrong("is used and stands for nothing");
          }
          continue;
        }
        if (mapped >= job_.communicators.size() || !contains(mapped, rank)) {
          return wrong("stands for a communicator that does not contain it");
        }
        if (job_.communicators[mapped].ranks.size() != c.program.communicators[slot].ranks.size()) {
          return wrong("stands for a communicator of another size");
        }
        if (!seen.insert(mapped).second) {
          return wrong("stands for the same communicator as another");
        }
      }
    }
    return {};
  }

  Status check_peers(const Class& c) const {
    std::unordered_set<uint64_t> checked;
    for (const Part& part : c.program.parts) {
      if (part.peer == kAnySource) {
        continue;
      }
      const Communicator& own = c.program.communicators[part.communicator];
      if (part.peer < 0 || static_cast<size_t>(part.peer) >= own.ranks.size()) {
        return bad(where_,
                   "a part of the program of " + of_rank(c.program.rank) + " has no valid peer");
      }
      const auto position = static_cast<uint32_t>(part.peer);
      if (!checked.insert(key(part.communicator, position)).second) {
        continue;
      }
      for (const Rank rank : c.members) {
        const Rank peer = job_.peer(rank, part);
        if (!contains(job_.communicator(rank, part.communicator), peer)) {
          return bad(where_, of_rank(rank) + " talks to " + of_rank(peer) +
                                 " on a communicator that does not contain it");
        }
      }
    }
    return {};
  }

  static uint64_t key(uint32_t high, uint32_t low) { return uint64_t{high} << 32U | low; }
  bool contains(uint32_t communicator, Rank rank) const {
    return members_.count(key(communicator, rank)) != 0;
  }

  const Job& job_;
  const std::string& where_;
  std::unordered_set<uint64_t> members_;  ///< (communicator, rank)
};

}  // namespace

Status check_program(const Program& program, const std::string& where) {
  Status status = validate(program);
  if (!status.ok()) {
    return std::move(status).context(where);
  }
  return check_labels(program, where);
}

Status check_job(const Job& job, const std::string& where) {
  return JobCheck(job, where).run();
}

Status check_times_of_rank(const RankTimes& times, const ClassShape& its, Rank rank,
                           const std::string& where) {
  const auto fits = [](const Column& column, uint64_t size) {
    return column.empty() || column.size() == size;
  };
  if (!fits(times.durations, its.nodes) || !fits(times.gaps, its.nodes) ||
      !fits(times.parts, its.parts)) {
    return bad(where, "the times of " + of_rank(rank) + " are of " +
                          std::to_string(times.durations.size()) + " durations, " +
                          std::to_string(times.gaps.size()) + " gaps and " +
                          std::to_string(times.parts.size()) + " parts, expected " +
                          std::to_string(its.nodes) + ", " + std::to_string(its.nodes) + " and " +
                          std::to_string(its.parts) + " (or 0)");
  }
  return {};
}

Status check_times(const Times& times, const KindShape& kind, const std::string& where) {
  if (!times.set_of.empty() && times.set_of.size() != kind.world_size) {
    return bad(where, "times of " + std::to_string(times.set_of.size()) + " ranks, expected " +
                          std::to_string(kind.world_size));
  }
  for (Rank rank = 0; rank < times.set_of.size(); ++rank) {
    const uint32_t set = times.set_of[rank];
    if (set == kNone) {
      continue;
    }
    if (set >= times.sets.size()) {
      return bad(where, of_rank(rank) + " has set " + std::to_string(set) + " of " +
                            std::to_string(times.sets.size()));
    }
    PRISM_TRY(check_times_of_rank(times.sets[set], kind.classes[kind.class_of[rank]], rank, where));
  }
  return {};
}

Status check_counted(const IterationKind& kind, const std::string& where) {
  uint32_t iterations = 0;
  for (const Class& c : kind.job.classes) {
    iterations = std::max(iterations, c.program.iterations);
  }
  for (const uint32_t counted : kind.counted) {
    if (counted >= iterations) {
      return bad(where, "iteration " + std::to_string(counted) + " counts, of " +
                            std::to_string(iterations));
    }
  }
  return {};
}

Status check_times_from(const std::vector<Rank>& times_from, uint32_t world_size,
                        const std::string& where) {
  if (!times_from.empty() && times_from.size() != world_size) {
    return bad(where, "says where the times of " + std::to_string(times_from.size()) +
                          " ranks come from, expected " + std::to_string(world_size));
  }
  for (const Rank from : times_from) {
    if (from != kNone && from >= world_size) {
      return bad(where, "has times from " + of_rank(from) + " of " + std::to_string(world_size));
    }
  }
  return {};
}

}  // namespace prism::graph::file
