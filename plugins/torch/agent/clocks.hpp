// SPDX-License-Identifier: Apache-2.0
/// The two clocks of an event and what the agent itself costs, per thread.
#pragma once

#include <cstdint>

#include "prism/wire/agent.hpp"

namespace prism::torch_agent {

/// From the moment the program enters the agent until it leaves it. Whatever happens in between
/// (encoding, sending, waiting for the verdict, making outputs) is cost of the agent and no time of
/// the program. One per entry, on the stack of the thread; entries of a thread do not nest.
class Entry {
 public:
  Entry();
  ~Entry();
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  /// When the program entered the agent: the clocks of the event that it causes.
  wire::Clocks entered() const;
  /// Now, inside the agent: same time of the program as entered().
  wire::Clocks now() const;

 private:
  int64_t mono_ns_;
  int64_t cpu_ns_;
};

}  // namespace prism::torch_agent
