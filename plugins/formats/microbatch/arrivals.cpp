// SPDX-License-Identifier: Apache-2.0
/// The JSON shows a communication from when the last of its ranks had arrived. A rank arrived as
/// much before the last one as what it had to do before had ended earlier.
#include <algorithm>
#include <map>
#include <tuple>

#include "job.hpp"

#include "prism/abi/draft/format.h"

namespace prism::microbatch {
namespace {

constexpr int64_t kUnknown = -1;

class Arrivals {
 public:
  explicit Arrivals(Job& job)
      : job_(job), ready_(job.programs.size()), waits_(job.programs.size()) {
    for (size_t worker = 0; worker < job.programs.size(); ++worker) {
      find_ready(worker);
    }
  }

  void estimate() {
    for (auto& [key, members] : collectives()) {
      meet(members);
    }
    for (auto& [key, members] : messages()) {
      meet(members);
    }
    for (size_t worker = 0; worker < job_.programs.size(); ++worker) {
      std::vector<Node>& nodes = job_.programs[worker].nodes;
      for (size_t n = 0; n < nodes.size(); ++n) {
        const int64_t arrival = std::max(ready_[worker][n], nodes[n].start_ns - waits_[worker][n]);
        nodes[n].start_ns = std::min(nodes[n].start_ns, arrival);
      }
    }
    job_.notes.push_back(
        "the JSON does not say when ranks arrived at communications: estimated from when what they "
        "had to do before had ended (the CSV of the same job says it)");
  }

 private:
  struct Place {
    uint32_t worker;
    uint32_t node;
  };
  using Meetings = std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint64_t>, std::vector<Place>>;

  /// When a node could have begun; kUnknown for the first ones of a step.
  void find_ready(size_t worker) {
    const Program& program = job_.programs[worker];
    std::vector<int64_t>& ready = ready_[worker];
    ready.assign(program.nodes.size(), kUnknown);
    waits_[worker].assign(program.nodes.size(), 0);
    std::vector<uint32_t> last(program.lanes.size(), kNone);
    for (uint32_t n = 0; n < program.nodes.size(); ++n) {
      const Node& node = program.nodes[n];
      const auto after = [&](uint32_t before) {
        if (program.nodes[before].iteration == node.iteration) {
          ready[n] = std::max(ready[n], program.nodes[before].end_ns);
        }
      };
      std::for_each(node.dependencies.begin(), node.dependencies.end(), after);
      if (last[node.lane] != kNone) {
        after(last[node.lane]);
      }
      last[node.lane] = n;
    }
  }

  Meetings collectives() const {
    Meetings meetings;
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> count;  // by group and worker
    each_node([&](const Node& node, Place at) {
      if (node.group != kNone) {
        meetings[{node.group, 0, 0, count[{node.group, at.worker}]++}].push_back(at);
      }
    });
    return meetings;
  }

  Meetings messages() const {
    Meetings meetings;
    std::map<std::tuple<uint32_t, uint32_t, uint32_t, bool>, uint64_t> count;
    each_node([&](const Node& node, Place at) {
      for (const Part& part : node.parts) {
        const bool sends = job_.operation(part.operation).kind == PRISM_COMM_SEND;
        const uint32_t from = sends ? at.worker : part.peer;
        const uint32_t to = sends ? part.peer : at.worker;
        meetings[{part.group, from, to, count[{part.group, from, to, sends}]++}].push_back(at);
      }
    });
    return meetings;
  }

  template <typename Visit>
  void each_node(Visit&& visit) const {
    for (uint32_t worker = 0; worker < job_.programs.size(); ++worker) {
      const std::vector<Node>& nodes = job_.programs[worker].nodes;
      for (uint32_t n = 0; n < nodes.size(); ++n) {
        visit(nodes[n], Place{worker, n});
      }
    }
  }

  void meet(const std::vector<Place>& members) {
    int64_t last = kUnknown;
    for (const Place& at : members) {
      last = std::max(last, ready_[at.worker][at.node]);
    }
    for (const Place& at : members) {
      if (const int64_t ready = ready_[at.worker][at.node]; ready != kUnknown) {
        int64_t& wait = waits_[at.worker][at.node];  // a batch: for the latest of its peers
        wait = std::max(wait, last - ready);
      }
    }
  }

  Job& job_;
  std::vector<std::vector<int64_t>> ready_;  // by worker and node
  std::vector<std::vector<int64_t>> waits_;
};

}  // namespace

void estimate_arrivals(Job& job) {
  Arrivals(job).estimate();
}

}  // namespace prism::microbatch
