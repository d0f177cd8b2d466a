// SPDX-License-Identifier: Apache-2.0
/// Dependencies are guesses until the trace agrees: a rule ("a micro-batch is computed after it was
/// received") is kept only if the file shows it to hold.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "job.hpp"

namespace prism::microbatch {

class Rules {
 public:
  explicit Rules(Job& job) : job_(job), candidates_(job.programs.size()) {}

  /// What a rule follows from.
  enum class Reason { Meaning, Order };

  /// Index of the rule "`what` before `then`".
  uint32_t rule(Reason reason, std::string_view what, std::string_view then);
  /// By that rule, `node` of `worker` begins after `on` has ended.
  void add(uint32_t worker, uint32_t node, uint32_t on, uint32_t rule);
  /// Gives the nodes the dependencies of the rules that hold, and notes those that do not.
  void apply();

 private:
  struct Rule {
    Reason reason = Reason::Meaning;
    std::string name;
    uint64_t count = 0;
    uint64_t violated = 0;

    /// One in a hundred may be a disturbed clock; those instances are left out.
    bool holds() const { return violated * 100 <= count; }
  };
  struct Candidate {
    uint32_t node;
    uint32_t on;
    uint32_t rule;
  };

  void note_exceptions();
  bool is_violated(const Program& program, const Candidate& candidate) const;

  Job& job_;
  std::vector<Rule> rules_;
  std::vector<std::vector<Candidate>> candidates_;  // by worker
};

}  // namespace prism::microbatch
