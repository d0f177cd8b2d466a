// SPDX-License-Identifier: Apache-2.0
#include "rules.hpp"

#include <algorithm>

namespace prism::microbatch {

uint32_t Rules::rule(Reason reason, std::string_view what, std::string_view then) {
  const std::string name = std::string(what) + " before " + std::string(then);
  const auto known = std::find_if(rules_.begin(), rules_.end(), [&](const Rule& rule) {
    return rule.reason == reason && rule.name == name;
  });
  if (known != rules_.end()) {
    return static_cast<uint32_t>(known - rules_.begin());
  }
  rules_.push_back({reason, name});
  return static_cast<uint32_t>(rules_.size() - 1);
}

void Rules::add(uint32_t worker, uint32_t node, uint32_t on, uint32_t rule) {
  const Candidate candidate{node, on, rule};
  ++rules_[rule].count;
  rules_[rule].violated += is_violated(job_.programs[worker], candidate) ? 1 : 0;
  candidates_[worker].push_back(candidate);
}

bool Rules::is_violated(const Program& program, const Candidate& candidate) const {
  return candidate.on >= candidate.node ||
         program.nodes[candidate.on].end_ns > program.nodes[candidate.node].start_ns + kNoiseNs;
}

void Rules::apply() {
  for (size_t worker = 0; worker < candidates_.size(); ++worker) {
    Program& program = job_.programs[worker];
    for (const Candidate& candidate : candidates_[worker]) {
      if (!rules_[candidate.rule].holds() || is_violated(program, candidate)) {
        continue;
      }
      Node& node = program.nodes[candidate.node];
      const bool implied = node.lane == program.nodes[candidate.on].lane;
      if (!implied && std::find(node.dependencies.begin(), node.dependencies.end(), candidate.on) ==
                          node.dependencies.end()) {
        node.dependencies.push_back(candidate.on);
      }
    }
    candidates_[worker] = {};
  }
  note_exceptions();
}

/// Rules of meaning one by one: it is news when they do not hold. Of the others it is normal, in a
/// program that overlaps its work.
void Rules::note_exceptions() {
  uint64_t count = 0;
  uint64_t kept = 0;
  for (const Rule& rule : rules_) {
    const uint64_t exceptions = rule.holds() ? rule.violated : rule.count;
    if (rule.reason == Reason::Order) {
      count += rule.count;
      kept += rule.count - exceptions;
    } else if (exceptions > 0) {
      job_.notes.push_back("no dependency in " + std::to_string(exceptions) +
                           " cases, as they overlap in " + std::to_string(rule.violated) + " of " +
                           std::to_string(rule.count) + ": " + rule.name);
    }
  }
  if (count > 0) {
    job_.notes.push_back("of " + std::to_string(count) + " pairs of neighbouring operations " +
                         std::to_string(kept) +
                         " are taken to wait for each other, as their kinds "
                         "never overlap");
  }
}

}  // namespace prism::microbatch
