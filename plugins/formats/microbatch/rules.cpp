// SPDX-License-Identifier: Apache-2.0
#include "rules.hpp"

#include <algorithm>

namespace prism::microbatch {

uint32_t Rules::rule(std::string_view what, std::string_view then) {
  const std::string name = std::string(what) + " before " + std::string(then);
  const auto known = std::find_if(rules_.begin(), rules_.end(),
                                  [&](const Rule& rule) { return rule.name == name; });
  if (known != rules_.end()) {
    return static_cast<uint32_t>(known - rules_.begin());
  }
  rules_.push_back({name});
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
  for (const Rule& rule : rules_) {
    if (rule.violated > 0) {
      job_.notes.push_back("no dependency in " +
                           std::to_string(rule.holds() ? rule.violated : rule.count) +
                           " cases, as they overlap in " + std::to_string(rule.violated) + " of " +
                           std::to_string(rule.count) + ": " + rule.name);
    }
  }
}

}  // namespace prism::microbatch
