// SPDX-License-Identifier: Apache-2.0
#include "plugins/launchers/local/guard/spawn.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugins/launchers/local/channel.hpp"

namespace prism::local {
namespace {

constexpr size_t kMaxCores = 8192;  // NR_CPUS of the largest distribution kernels
using CoreSet = std::array<cpu_set_t, kMaxCores / CPU_SETSIZE>;

std::string list_of(const CoreSet& set) {
  std::string text;
  for (size_t core = 0; core < kMaxCores; ++core) {
    if (!CPU_ISSET_S(core, sizeof(set), set.data())) {
      continue;
    }
    size_t last = core;
    while (last + 1 < kMaxCores && CPU_ISSET_S(last + 1, sizeof(set), set.data())) {
      ++last;
    }
    text.append(text.empty() ? "" : ",").append(std::to_string(core));
    if (last > core) {
      text.append("-").append(std::to_string(last));
    }
    core = last;
  }
  return text;
}

Outcome pin(const std::vector<uint32_t>& cores) {
  if (cores.empty()) {
    return {};
  }
  CoreSet usable{};
  // All cores that this process may ever use: the kernel intersects with its cpuset.
  CoreSet all{};
  std::memset(all.data(), 0xff, sizeof(all));
  if (::sched_setaffinity(0, sizeof(all), all.data()) != 0 ||
      ::sched_getaffinity(0, sizeof(usable), usable.data()) < 0) {
    return errno_failure("cannot find out which cores this machine offers", errno);
  }
  CoreSet wanted{};
  for (const uint32_t core : cores) {
    // The kernel would silently leave out a core that it does not have.
    if (core >= kMaxCores || !CPU_ISSET_S(core, sizeof(usable), usable.data())) {
      return {PRISM_STATUS_FAILED_PRECONDITION, "core " + std::to_string(core) +
                                                    " cannot be used; this machine offers " +
                                                    list_of(usable)};
    }
    CPU_SET_S(core, sizeof(wanted), wanted.data());
  }
  if (::sched_setaffinity(0, sizeof(wanted), wanted.data()) != 0) {
    return errno_failure("cannot pin to cores " + list_of(wanted), errno);
  }
  return {};
}

/// Puts every descriptor in its place. `report_fd` is moved out of the way.
Outcome place_fds(const LaunchRequest& request, const LaunchFds& fds, int& report_fd) {
  int above = STDERR_FILENO + 1;
  for (const int32_t target : request.fd_targets) {
    above = std::max(above, target + 1);
  }
  const auto move = [above](int fd) { return ::fcntl(fd, F_DUPFD_CLOEXEC, above); };
  std::vector<int> sources;
  for (const int fd : fds.mapped) {
    sources.push_back(move(fd));
  }
  const int moved_report = move(report_fd);
  if (moved_report < 0 || std::count(sources.begin(), sources.end(), -1) > 0) {
    return errno_failure(
        "cannot use descriptor number " + std::to_string(above - 1) + " (limit: ulimit -n)", errno);
  }
  report_fd = moved_report;
  bool placed = ::dup2(fds.standard_output, STDOUT_FILENO) >= 0 &&
                ::dup2(fds.standard_error, STDERR_FILENO) >= 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    placed = placed && ::dup2(sources[i], request.fd_targets[i]) >= 0;
  }
  return placed ? Outcome{} : errno_failure("cannot pass descriptors", errno);
}

std::string path_of(const std::vector<std::string>& env) {
  constexpr std::string_view kName = "PATH=";
  for (const std::string& entry : env) {
    if (entry.starts_with(kName)) {
      return entry.substr(kName.size());
    }
  }
  return "/usr/bin:/bin";
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) {
    result.push_back(const_cast<char*>(text.c_str()));  // exec's types only predate const
  }
  result.push_back(nullptr);
  return result;
}

Outcome exec_failure(const std::string& file, int error, const LaunchRequest& request) {
  switch (error) {
    case ENOENT:
      if (::access(file.c_str(), F_OK) == 0) {
        return {
            PRISM_STATUS_NOT_FOUND,
            "program '" + file + "' exists, but the interpreter or loader that it names does not"};
      }
      return {PRISM_STATUS_NOT_FOUND, "program '" + file + "' does not exist"};
    case EACCES:
      return {PRISM_STATUS_PERMISSION_DENIED,
              "program '" + file + "' is not executable: " + errno_text(error)};
    case ENOEXEC:
      return {PRISM_STATUS_FAILED_PRECONDITION,
              "program '" + file + "' is neither a binary for this machine nor begins with '#!'"};
    case E2BIG: {
      size_t bytes = 0;
      for (const auto* texts : {&request.argv, &request.env}) {
        for (const std::string& text : *texts) {
          bytes += text.size() + 1;
        }
      }
      return {PRISM_STATUS_RESOURCE_EXHAUSTED,
              "arguments and environment of '" + file +
                  "' are too large: " + std::to_string(bytes) + " bytes; the kernel takes " +
                  std::to_string(::sysconf(_SC_ARG_MAX)) +
                  " in all (a quarter of the stack limit, ulimit -s) and 131072 for one of them"};
    }
    default:
      return errno_failure("cannot run program '" + file + "'", error);
  }
}

/// Returns only on failure. As execvpe, but says what was tried and never falls back to a shell.
Outcome run_program(const LaunchRequest& request) {
  const std::string& program = request.argv[0];
  const std::vector<char*> argv = pointers(request.argv);
  const std::vector<char*> env = pointers(request.env);
  if (program.find('/') != std::string::npos) {
    ::execve(program.c_str(), argv.data(), env.data());
    return exec_failure(program, errno, request);
  }
  const std::string path = path_of(request.env);
  std::string denied;
  for (size_t begin = 0; begin <= path.size() && !program.empty();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    const std::string folder = path.substr(begin, end - begin);
    begin = end + 1;
    const std::string file = (folder.empty() ? "." : folder) + "/" + program;
    ::execve(file.c_str(), argv.data(), env.data());
    const int error = errno;
    if (error == EACCES) {
      denied = denied.empty() ? file : denied;
    } else if ((error != ENOENT && error != ENOTDIR) || ::access(file.c_str(), F_OK) == 0) {
      return exec_failure(file, error, request);
    }
  }
  if (!denied.empty()) {
    return exec_failure(denied, EACCES, request);
  }
  return {PRISM_STATUS_NOT_FOUND, "program '" + program + "' was not found in PATH (" + path + ")"};
}

void reset_signals() {
  // By the system call: sigaction() refuses the two signals that the C library keeps for itself,
  // and posix_spawn, which started the guard, leaves those two ignored. All zero is SIG_DFL.
  constexpr size_t kSetBytes = 8;
  const std::array<unsigned long, 8> by_default{};
  for (int signo = 1; signo <= SIGRTMAX; ++signo) {
    ::syscall(SYS_rt_sigaction, signo, by_default.data(), nullptr, kSetBytes);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// In the new process. Returns only on failure.
Outcome become(const LaunchRequest& request, const LaunchFds& fds, pid_t guard, int& report_fd) {
  // Only a second line of defence, for a guard without namespaces.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != guard) {
    return {PRISM_STATUS_UNAVAILABLE, "the guard has ended"};
  }
  // Signals of the terminal go to its foreground group: not to this one.
  ::setsid();
  if (Outcome pinned = pin(request.cores); !pinned.ok()) {
    return pinned;
  }
  if (!request.cwd.empty() && ::chdir(request.cwd.c_str()) != 0) {
    return errno_failure("cannot enter the working directory '" + request.cwd + "'", errno);
  }
  if (Outcome placed = place_fds(request, fds, report_fd); !placed.ok()) {
    return placed;
  }
  reset_signals();
  return run_program(request);
}

/// A program on a file system that hangs must not keep the guard from noticing the host's end.
bool wait_for_report(int report, int control) {
  std::array<pollfd, 2> polled{pollfd{report, POLLIN, 0}, pollfd{control, 0, 0}};
  while (::poll(polled.data(), polled.size(), -1) < 0 && errno == EINTR) {
  }
  return polled[1].revents == 0;
}

}  // namespace

Outcome spawn(const LaunchRequest& request, const LaunchFds& fds, int control, pid_t& pid) {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return errno_failure("cannot start a process", errno);
  }
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const pid_t guard = ::getpid();
  pid = ::fork();
  if (pid < 0) {
    return errno_failure("cannot start a process", errno);
  }
  if (pid == 0) {
    int report_fd = theirs.get();
    const Outcome failure = become(request, fds, guard, report_fd);
    send_message(report_fd, Reply{failure.code, 0, 0}, failure.text);
    ::_exit(127);
  }
  theirs.reset();
  if (!wait_for_report(ours.get(), control)) {
    return {PRISM_STATUS_UNAVAILABLE, "the host has gone"};
  }
  Reply failure{};
  Outcome outcome;
  if (receive_message(ours.get(), failure, &outcome.text) != Received::Message) {
    return {};  // exec closed the other end
  }
  outcome.code = failure.status;
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return outcome;
}

}  // namespace prism::local
