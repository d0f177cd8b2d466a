// SPDX-License-Identifier: Apache-2.0
/// What waits for what inside a rank.
#include <map>
#include <span>
#include <tuple>

#include "job.hpp"
#include "rules.hpp"

#include "prism/abi/draft/format.h"

namespace prism::microbatch {
namespace {

class Dependencies {
 public:
  explicit Dependencies(Job& job) : job_(job), rules_(job) {}

  void add_all() {
    each_step([&](uint32_t worker, uint32_t begin, uint32_t end) {
      add_program_order(worker, begin, end);
      add_meaning(worker, begin, end);
    });
    rules_.apply();
    Rules unexplained(job_);
    each_step([&](uint32_t worker, uint32_t begin, uint32_t end) {
      add_computation_before(unexplained, worker, begin, end);
    });
    unexplained.apply();
    each_step([&](uint32_t worker, uint32_t begin, uint32_t end) {
      add_step_before(worker, begin, end);
    });
  }

 private:
  template <typename Visit>
  void each_step(Visit&& visit) {
    for (uint32_t worker = 0; worker < job_.programs.size(); ++worker) {
      const std::vector<Node>& nodes = job_.programs[worker].nodes;
      for (uint32_t begin = 0; begin < nodes.size();) {
        uint32_t end = begin;
        while (end < nodes.size() && nodes[end].iteration == nodes[begin].iteration) {
          ++end;
        }
        visit(worker, begin, end);
        begin = end;
      }
    }
  }

  const Node& node(uint32_t worker, uint32_t n) const { return job_.programs[worker].nodes[n]; }
  const Operation& operation(const Node& node) const { return job_.operation(node.operation); }

  std::string_view kind(uint32_t worker, uint32_t n) const {
    const Node& of = node(worker, n);
    return of.parts.empty() ? operation(of).name
                            : std::string_view(job_.programs[worker].lanes[of.lane].name);
  }

  /// A program that does not overlap its work does one after the other, whatever it is.
  void add_program_order(uint32_t worker, uint32_t begin, uint32_t end) {
    uint32_t before = kNone;
    for (uint32_t n = begin; n < end; ++n) {
      if (operation(node(worker, n)).role == Role::Other) {
        continue;
      }
      if (before != kNone) {
        rules_.add(worker, n, before,
                   rules_.rule(Rules::Reason::Order, kind(worker, before), kind(worker, n)));
      }
      before = n;
    }
  }

  /// What holds for a program that overlaps too.
  void add_meaning(uint32_t worker, uint32_t begin, uint32_t end) {
    std::map<std::tuple<bool, int32_t, int32_t>, uint32_t> computed;  // by micro-batch and chunk
    std::map<std::pair<bool, int32_t>, uint32_t> first;               // by chunk; -1: of all
    std::map<std::pair<bool, int32_t>, uint32_t> last;
    uint32_t update = kNone;  // of the parameters
    for (uint32_t n = begin; n < end; ++n) {
      const Node& of = node(worker, n);
      const Operation& o = operation(of);
      if (o.role == Role::Compute && of.parts.empty()) {
        computed.insert({{o.backward, of.micro_batch, of.chunk}, n});
        for (const int32_t chunk : {of.chunk, -1}) {
          first.insert({{o.backward, chunk}, n});
          last[{o.backward, chunk}] = n;
        }
      } else if ((o.role == Role::Norm || o.role == Role::Optimizer) && update == kNone) {
        update = n;
      }
    }
    for (uint32_t n = begin; n < end; ++n) {
      const Node& of = node(worker, n);
      const Operation& o = operation(of);
      for (const Part& part : of.parts) {
        add_message(worker, n, part, computed);
      }
      if (o.role == Role::Parameters) {
        if (const auto use = first.find({false, of.chunk}); use != first.end()) {
          rules_.add(worker, use->second, n,
                     rules_.rule(Rules::Reason::Meaning, o.name, "the first use of the chunk"));
        }
      } else if (o.role == Role::Gradients) {
        if (const auto made = last.find({true, of.chunk}); made != last.end()) {
          rules_.add(worker, n, made->second,
                     rules_.rule(Rules::Reason::Meaning, "the last backward-compute of the chunk",
                                 o.name));
        }
        if (update != kNone) {
          rules_.add(worker, update, n,
                     rules_.rule(Rules::Reason::Meaning, o.name, "the update of the parameters"));
        }
      }
    }
  }

  void add_message(uint32_t worker, uint32_t n, const Part& part,
                   const std::map<std::tuple<bool, int32_t, int32_t>, uint32_t>& computed) {
    const Operation& o = job_.operation(part.operation);
    const auto of = computed.find({o.backward, part.micro_batch, part.chunk});
    if (of == computed.end()) {
      return;
    }
    const std::string_view computation = operation(node(worker, of->second)).name;
    if (o.kind == PRISM_COMM_SEND) {
      rules_.add(worker, n, of->second,
                 rules_.rule(Rules::Reason::Meaning,
                             std::string(computation) + " of the micro-batch", o.name));
    } else {
      rules_.add(worker, of->second, n,
                 rules_.rule(Rules::Reason::Meaning, o.name,
                             std::string(computation) + " of the micro-batch"));
    }
  }

  /// A message that waits for nothing else is issued after what the rank computed before it: sends
  /// and receives that overlap each other follow the same computation.
  void add_computation_before(Rules& rules, uint32_t worker, uint32_t begin, uint32_t end) {
    uint32_t computation = kNone;
    for (uint32_t n = begin; n < end; ++n) {
      const Node& of = node(worker, n);
      if (of.parts.empty()) {
        computation = operation(of).role == Role::Compute ? n : computation;
      } else if (of.dependencies.empty() && computation != kNone) {
        rules.add(worker, n, computation,
                  rules.rule(Rules::Reason::Meaning, kind(worker, computation), kind(worker, n)));
      }
    }
  }

  /// What waits for nothing else waits for the end of the step before.
  void add_step_before(uint32_t worker, uint32_t begin, uint32_t end) {
    if (begin == 0) {
      return;
    }
    const uint32_t update = begin - 1;
    for (uint32_t n = begin; n < end; ++n) {
      Node& of = job_.programs[worker].nodes[n];
      if (of.dependencies.empty() && of.lane != node(worker, update).lane) {
        of.dependencies.push_back(update);
      }
    }
  }

  Job& job_;
  Rules rules_;
};

}  // namespace

void add_dependencies(Job& job) {
  Dependencies(job).add_all();
}

}  // namespace prism::microbatch
