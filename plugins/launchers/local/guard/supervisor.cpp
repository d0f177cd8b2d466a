// SPDX-License-Identifier: Apache-2.0
#include "plugins/launchers/local/guard/supervisor.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugins/launchers/local/guard/spawn.hpp"
#include "plugins/launchers/local/launch_request.hpp"

namespace prism::local {
namespace {

/// A descriptor that is readable while children have ended; all signals are blocked, so that
/// nothing but SIGKILL ends this process.
UniqueFd watch_children() {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  return UniqueFd(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
}

std::optional<LaunchRequest> read_request(int memfd) {
  struct stat status {};
  if (::fstat(memfd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < 0 ||
      static_cast<uint64_t>(status.st_size) > kMaxLaunchBytes) {
    return std::nullopt;
  }
  std::string bytes(static_cast<size_t>(status.st_size), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t size =
        ::pread(memfd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (size <= 0) {
      return std::nullopt;
    }
    done += static_cast<size_t>(size);
  }
  return decode(bytes);
}

}  // namespace

void Supervisor::run(const std::string& description) {
  const UniqueFd children = watch_children();
  if (!children || !send_message(fds_.control, Reply{}, description)) {
    return;
  }
  enum : size_t { kControl, kEvents, kChildren, kHost, kLifeline, kCount };
  while (true) {
    std::array<pollfd, kCount> polled{};
    polled[kControl] = {fds_.control, POLLIN, 0};
    polled[kEvents] = {fds_.events, static_cast<short>(exits_.empty() ? 0 : POLLOUT), 0};
    polled[kChildren] = {children.get(), POLLIN, 0};
    polled[kHost] = {fds_.host, POLLIN, 0};
    polled[kLifeline] = {fds_.lifeline, POLLIN, 0};
    if (::poll(polled.data(), polled.size(), -1) < 0) {
      if (errno == EINTR) {
        continue;
      }
      return;
    }
    if (polled[kHost].revents != 0 || polled[kLifeline].revents != 0 ||
        (polled[kEvents].revents & (POLLHUP | POLLERR)) != 0) {
      return;
    }
    if (polled[kChildren].revents != 0) {
      signalfd_siginfo ignored{};
      while (::read(children.get(), &ignored, sizeof(ignored)) > 0) {
      }
      reap();
    }
    send_exits();
    if (polled[kControl].revents != 0 && !serve_request()) {
      return;
    }
  }
}

bool Supervisor::serve_request() {
  Request request{};
  std::vector<UniqueFd> received;
  if (receive_message(fds_.control, request, nullptr, &received) != Received::Message) {
    return false;
  }
  uint64_t process = request.process;
  Outcome outcome;
  switch (request.kind) {
    case RequestKind::Spawn:
      outcome = spawn_process(received, process);
      break;
    case RequestKind::Signal:
      outcome = signal_process(process, request.signo);
      break;
    default:
      outcome = {PRISM_STATUS_INVALID_ARGUMENT, "the guard got a request that it does not know"};
  }
  return send_message(fds_.control, Reply{outcome.code, 0, process}, outcome.text);
}

Outcome Supervisor::spawn_process(const std::vector<UniqueFd>& received, uint64_t& process) {
  const auto request = received.size() >= kOwnFds ? read_request(received[0].get()) : std::nullopt;
  if (!request || received.size() != kOwnFds + request->fd_targets.size()) {
    return {PRISM_STATUS_INVALID_ARGUMENT, "the guard got a damaged launch request"};
  }
  LaunchFds fds{received[1].get(), received[2].get(), {}};
  for (size_t i = kOwnFds; i < received.size(); ++i) {
    fds.mapped.push_back(received[i].get());
  }
  pid_t pid = 0;
  Outcome outcome = spawn(*request, fds, fds_.control, pid);
  if (outcome.ok()) {
    process = ++last_process_;
    running_.emplace(process, pid);
  }
  return outcome;
}

Outcome Supervisor::signal_process(uint64_t process, int signo) const {
  const auto found = running_.find(process);
  if (found == running_.end()) {
    return {PRISM_STATUS_NOT_FOUND, "process " + std::to_string(process) + " has ended"};
  }
  if (::kill(found->second, signo) != 0) {
    return errno_failure(
        "cannot send signal " + std::to_string(signo) + " to process " + std::to_string(process),
        errno);
  }
  return {};
}

void Supervisor::reap() {
  int status = 0;
  pid_t pid = 0;
  while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
    const auto ended = std::find_if(running_.begin(), running_.end(),
                                    [pid](const auto& entry) { return entry.second == pid; });
    if (ended == running_.end()) {
      continue;  // an adopted orphan
    }
    Exit event{ended->first, 0, 0};
    if (WIFSIGNALED(status)) {
      event.signal = WTERMSIG(status);
    } else {
      event.exit_code = WEXITSTATUS(status);
    }
    exits_.push_back(event);
    running_.erase(ended);
  }
}

void Supervisor::send_exits() {
  while (!exits_.empty() && send_message(fds_.events, exits_.front(), {}, {}, MSG_DONTWAIT)) {
    exits_.pop_front();
  }
}

}  // namespace prism::local
