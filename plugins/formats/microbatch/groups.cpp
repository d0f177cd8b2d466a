// SPDX-License-Identifier: Apache-2.0
/// Who communicates with whom, and whether everybody is there.
///
/// A communicator per kind of collective and set of ranks, and one per pipeline and direction: what
/// belongs together then follows from the order within one kind of operation, which is that of the
/// program; the order between kinds that overlap may differ from rank to rank.
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

#include "job.hpp"

#include "prism/abi/draft/format.h"
#include "prism/sdk/error.hpp"

namespace prism::microbatch {
namespace {

/// The operation (messages: forward or backward), and what its members have in common; -1 where
/// they differ.
using GroupKey = std::tuple<bool, std::string_view, int32_t, int32_t, int32_t>;

class Groups {
 public:
  explicit Groups(Job& job) : job_(job) {}

  void make() {
    std::map<GroupKey, std::set<uint32_t>> members;
    each([&](uint32_t worker, Node&, const Operation& operation, const Part* part) {
      if (operation.members != Members::Own) {
        members[key(worker, operation)].insert(worker);
      }
      if (part != nullptr) {
        members[key(worker, operation)].insert(part->peer);
      }
    });
    std::map<GroupKey, uint32_t> index;
    for (const auto& [key, workers] : members) {
      // With nobody else it is a computation.
      if (workers.size() > 1) {
        index[key] = static_cast<uint32_t>(job_.groups.size());
        job_.groups.push_back(
            {name(key), std::string(std::get<1>(key)), {workers.begin(), workers.end()}});
      }
    }
    each([&](uint32_t worker, Node& node, const Operation& operation, Part* part) {
      if (const auto known = index.find(key(worker, operation)); known != index.end()) {
        (part != nullptr ? part->group : node.group) = known->second;
      }
    });
  }

  void check() const {
    for (uint32_t worker = 0; worker < job_.programs.size(); ++worker) {
      check_steps(worker);
    }
    check_collectives();
    check_messages();
  }

 private:
  template <typename Visit>
  void each(Visit&& visit) {
    for (uint32_t worker = 0; worker < job_.programs.size(); ++worker) {
      for (Node& node : job_.programs[worker].nodes) {
        if (node.parts.empty()) {
          visit(worker, node, job_.operation(node.operation), static_cast<Part*>(nullptr));
        }
        for (Part& part : node.parts) {
          visit(worker, node, job_.operation(part.operation), &part);
        }
      }
    }
  }

  GroupKey key(uint32_t worker, const Operation& operation) const {
    const Worker& w = job_.trace.workers[worker];
    if (is_message(operation)) {
      const char* name = operation.backward ? "pipeline backward" : "pipeline forward";
      return {true, name, -1, w.data, w.tensor};
    }
    switch (operation.members) {
      case Members::Data:
        return {false, operation.name, w.stage, -1, w.tensor};
      case Members::Ends:
        return {false, operation.name, -1, w.data, w.tensor};
      default:
        return {false, operation.name, -1, -1, -1};
    }
  }

  static std::string name(const GroupKey& key) {
    const auto& [message, what, stage, data, tensor] = key;
    std::string name(what);
    name += stage >= 0 ? ", stage " + std::to_string(stage) : "";
    name += data >= 0 ? ", dp rank " + std::to_string(data) : "";
    name += tensor > 0 ? ", number " + std::to_string(tensor) : "";
    return name;
  }

  void check_steps(uint32_t worker) const {
    std::set<int32_t> steps;
    for (const Node& node : job_.programs[worker].nodes) {
      steps.insert(node.iteration);
    }
    for (int32_t i = 0; i < static_cast<int32_t>(job_.steps.size()); ++i) {
      if (!steps.contains(i)) {
        cut(job_.rank_and_step(worker, i) + ": nothing is told of it, but of other ranks");
      }
    }
  }

  void check_collectives() const {
    // How often each member does it, by group and iteration.
    std::map<std::pair<uint32_t, int32_t>, std::map<uint32_t, uint64_t>> counts;
    for (uint32_t worker = 0; worker < job_.programs.size(); ++worker) {
      for (const Node& node : job_.programs[worker].nodes) {
        if (node.group != kNone) {
          ++counts[{node.group, node.iteration}][worker];
        }
      }
    }
    for (const auto& [key, of] : counts) {
      const auto& [first, expected] = *of.begin();
      for (const uint32_t worker : job_.groups[key.first].workers) {
        const auto own = of.find(worker);
        const uint64_t n = own == of.end() ? 0 : own->second;
        if (n != expected) {
          cut(job_.rank_and_step(worker, key.second) + ": " + std::to_string(n) + " " +
              job_.groups[key.first].description + ", but " + std::to_string(expected) +
              " of rank " + std::to_string(job_.trace.workers[first].number));
        }
      }
    }
  }

  void check_messages() const {
    // Sends less receives, by group, iteration, sender and receiver.
    std::map<std::tuple<uint32_t, int32_t, uint32_t, uint32_t>, int64_t> open;
    for (uint32_t worker = 0; worker < job_.programs.size(); ++worker) {
      for (const Node& node : job_.programs[worker].nodes) {
        for (const Part& part : node.parts) {
          const bool sends = job_.operation(part.operation).kind == PRISM_COMM_SEND;
          open[{part.group, node.iteration, sends ? worker : part.peer,
                sends ? part.peer : worker}] += sends ? 1 : -1;
        }
      }
    }
    for (const auto& [key, balance] : open) {
      const auto& [group, iteration, from, to] = key;
      if (balance != 0) {
        cut(job_.rank_and_step(from, iteration) + ": " + std::to_string(std::abs(balance)) +
            " messages of '" + job_.groups[group].name + "' to rank " +
            std::to_string(job_.trace.workers[to].number) +
            (balance > 0 ? " are not received" : " are received and not sent"));
      }
    }
  }

  [[noreturn]] void cut(const std::string& what) const {
    throw sdk::Error(PRISM_STATUS_DATA_LOSS, job_.trace.path + ": " + what + "; is the file cut?");
  }

  Job& job_;
};

}  // namespace

void make_groups(Job& job) {
  Groups groups(job);
  groups.make();
  groups.check();
}

}  // namespace prism::microbatch
