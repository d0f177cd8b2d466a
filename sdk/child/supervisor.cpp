// SPDX-License-Identifier: Apache-2.0
#include "sdk/child/supervisor.hpp"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PRISM_CHILD_SANITIZED 1
#else
#define PRISM_CHILD_SANITIZED 0
#endif

namespace prism::child {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP};

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

timespec as_timespec(Clock::duration duration) {
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
  return {ns / 1'000'000'000, ns % 1'000'000'000};
}

/// Waits for `child` and fills in how it ended; returns the signal that came instead, or 0.
int wait_for(pid_t child, Clock::time_point deadline, const sigset_t& waited, Ending& ending) {
  int stopped_by = 0;
  while (::waitpid(child, &ending.status, WNOHANG) == 0) {
    const Clock::duration left = deadline - Clock::now();
    if (stopped_by != 0 || left <= Clock::duration::zero()) {
      ::kill(-child, SIGKILL);
      ::kill(child, SIGKILL);  // it may have left its group
      ::waitpid(child, &ending.status, 0);
      return stopped_by;
    }
    const timespec at_most = as_timespec(left);
    const int signal = ::sigtimedwait(&waited, nullptr, &at_most);
    stopped_by = signal > 0 && signal != SIGCHLD ? signal : 0;
  }
  ending.in_time = true;
  return stopped_by;
}

/// Ends everything that descends from this process; how many there were.
int end_descendants(pid_t group) {
  int found = 0;
  for (int round = 0; round < 1000; ++round) {
    int status = 0;
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, &status, WNOHANG)) > 0) {
    }
    if (ended < 0 && errno == ECHILD) {
      break;
    }
    ::kill(-group, SIGKILL);
    std::ifstream children("/proc/thread-self/children");
    for (pid_t child = 0; children >> child;) {
      found += round == 0 ? 1 : 0;
      ::kill(child, SIGKILL);
    }
    ::usleep(1000);
  }
  return found;
}

void limit(int resource, uint64_t amount) {
  const rlimit both{amount, amount};
  ::setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

}  // namespace

Supervisor::Supervisor() {
  sigemptyset(&waited_);
  sigaddset(&waited_, SIGCHLD);
  for (const int signal : kStopSignals) {
    if (!is_ignored(signal)) {
      sigaddset(&waited_, signal);
    }
  }
  ::sigprocmask(SIG_BLOCK, &waited_, &old_mask_);
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;  // ignored, children would vanish unseen
  ::sigaction(SIGCHLD, &by_default, &old_child_action_);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

Supervisor::~Supervisor() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  ::sigaction(SIGCHLD, &old_child_action_, nullptr);
  ::sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
  if (stopped_by_ != 0) {
    ::raise(stopped_by_);
  }
}

std::optional<Ending> Supervisor::run(const std::function<void()>& body,
                                      std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  const pid_t child = ::fork();
  if (child < 0) {
    return std::nullopt;
  }
  if (child == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const int signal : kStopSignals) {
      if (!is_ignored(signal)) {
        ::signal(signal, SIG_DFL);  // a handler of the parent's is not for the child
      }
    }
    ::sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
    // An exception must not get into what the parent would do next.
    [&]() noexcept { body(); }();
    ::_exit(0);
  }
  ::setpgid(child, child);  // here too: whoever comes first
  Ending ending;
  stopped_by_ = wait_for(child, deadline, waited_, ending);
  ending.stopped = stopped_by_ != 0;
  ending.left = end_descendants(child);
  return ending;
}

std::string signal_name(int signal) {
  const char* abbreviation = sigabbrev_np(signal);
  return abbreviation == nullptr ? "signal " + std::to_string(signal)
                                 : "SIG" + std::string(abbreviation);
}

void limit_files() {
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, kMaxFileBytes);
}

void limit_resources(uint64_t data_bytes) {
  limit_files();
  if (!PRISM_CHILD_SANITIZED) {
    limit(RLIMIT_DATA, data_bytes);
  }
}

}  // namespace prism::child
