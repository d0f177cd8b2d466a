// SPDX-License-Identifier: Apache-2.0
/// Starts processes under one guard. core/plugin adapts `prism.launcher/1` to this.
/// Thread: one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/status.hpp"

namespace prism::schedule {

struct LaunchSpec {
  std::vector<std::string> argv;
  std::vector<std::string> env;  ///< "NAME=value", the whole environment
  std::string cwd;
  std::string stdout_path;
  std::string stderr_path;
  std::vector<uint32_t> cores;           ///< none: all
  std::vector<std::pair<int, int>> fds;  ///< ours -> the child's
};

using ProcessId = uint64_t;

struct ProcessExit {
  ProcessId process = 0;
  int exit_code = 0;  ///< valid when signal is 0
  int signal = 0;
};

class Launcher {
 public:
  virtual ~Launcher() = default;
  /// How processes are kept together, one line.
  virtual std::string describe() = 0;
  virtual Result<ProcessId> spawn(const LaunchSpec& spec) = 0;
  virtual Status signal(ProcessId process, int signo) = 0;
  /// Polls readable while next_exit has something.
  virtual int event_fd() = 0;
  /// The next ended process, nothing when there is none now; Unavailable when the guard has died.
  virtual Result<std::optional<ProcessExit>> next_exit() = 0;
  // The destructor kills what still runs and returns when all is gone.
};

}  // namespace prism::schedule
