// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "plugins/launchers/local/launch_request.hpp"
#include "plugins/launchers/local/outcome.hpp"
#include "plugins/launchers/local/unique_fd.hpp"

namespace prism::local {

/// Descriptors of the new process; `mapped` belong to LaunchRequest::fd_targets, in order.
struct LaunchFds {
  int standard_output = -1;
  int standard_error = -1;
  std::vector<int> mapped;
};

/// Starts a process in a session of its own and returns once exec succeeded, or once the other side
/// of the socket `control` has gone. Its standard input is that of the guard (/dev/null); every
/// other descriptor of the guard is close-on-exec. `pid` is set when a process runs.
Outcome spawn(const LaunchRequest& request, const LaunchFds& fds, int control, pid_t& pid);

}  // namespace prism::local
