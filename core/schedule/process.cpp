// SPDX-License-Identifier: Apache-2.0
#include "core/schedule/process.hpp"

#include <cerrno>
#include <poll.h>

namespace prism::schedule {

Result<ProcessExit> run_process(Launcher& launcher, const LaunchSpec& spec,
                                const ProcessLimits& limits) {
  constexpr int kPollMs = 200;
  using Clock = std::chrono::steady_clock;
  PRISM_TRY_ASSIGN(const ProcessId process, launcher.spawn(spec));
  uint64_t activity = limits.activity();
  auto last = Clock::now();
  while (true) {
    pollfd polled[] = {{limits.interrupt_fd, POLLIN, 0}, {launcher.event_fd(), POLLIN, 0}};
    if (::poll(polled, 2, kPollMs) < 0 && errno != EINTR) {
      return run_error("cannot wait for a process", Code::Unavailable);
    }
    if (polled[0].revents != 0) {
      return Status(Code::Cancelled, Domain::Interrupted, "interrupted; what was finished is kept");
    }
    PRISM_TRY_ASSIGN(const std::optional<ProcessExit> exit, launcher.next_exit());
    if (exit && exit->process == process) {
      return *exit;
    }
    if (const uint64_t now = limits.activity(); now != activity) {
      activity = now;
      last = Clock::now();
    } else if (Clock::now() - last > limits.timeout) {
      return run_error(
          "it has not got on for " +
              std::to_string(
                  std::chrono::duration_cast<std::chrono::seconds>(limits.timeout).count()) +
              " s ([collect] timeout)",
          Code::DeadlineExceeded);
    }
  }
}

}  // namespace prism::schedule
