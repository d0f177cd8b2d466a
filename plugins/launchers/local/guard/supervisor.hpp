// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "plugins/launchers/local/channel.hpp"
#include "plugins/launchers/local/outcome.hpp"

namespace prism::local {

/// What the guard was given and watches. Not owned.
struct GuardFds {
  int control = -1;
  int events = -1;
  int host = -1;      ///< pidfd of the host process, -1 on kernels without
  int lifeline = -1;  ///< ends when the outer process of the guard does
};

/// Serves the plugin: starts and signals processes, reaps everything (adopted orphans as well) and
/// reports the ends of what it started. Single-threaded.
class Supervisor {
 public:
  explicit Supervisor(const GuardFds& fds) : fds_(fds) {}

  /// Returns when plugin, host or outer process have gone. `description`: the first reply.
  void run(const std::string& description);

 private:
  bool serve_request();
  Outcome spawn_process(const std::vector<UniqueFd>& received, uint64_t& process);
  Outcome signal_process(uint64_t process, int signo) const;
  void reap();
  void send_exits();

  GuardFds fds_;
  std::map<uint64_t, pid_t> running_;  // a pid stays in here until it is reaped: never reused
  std::deque<Exit> exits_;             // not yet taken by the events socket
  uint64_t last_process_ = 0;
};

}  // namespace prism::local
