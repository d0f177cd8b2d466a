// SPDX-License-Identifier: Apache-2.0
/// What the coordinator answers to a rank's operations and waits. One driver of ranks serves all
/// ways of running them; they differ by this (architecture 3).
#pragma once

#include "core/base/ids.hpp"
#include "prism/wire/agent.hpp"

namespace prism::schedule {

class VerdictPolicy {
 public:
  virtual ~VerdictPolicy() = default;
  /// `event` is an Op or a Wait of `rank`.
  virtual wire::Decision decide(Rank rank, const wire::Message& event) = 0;
};

/// A rank runs alone: its agent makes what peers would have sent, and never waits.
class LonePolicy final : public VerdictPolicy {
 public:
  wire::Decision decide(Rank, const wire::Message&) override { return wire::Decision::Go; }
};

}  // namespace prism::schedule
