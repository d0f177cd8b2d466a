// SPDX-License-Identifier: Apache-2.0
/// prism_guard ISOLATION CONTROL EVENTS HOST: started by the plugin `local`, with the numbers of
/// inherited descriptors (HOST: a pidfd, or -1).
///
/// Two processes. The inner one starts, reaps and signals the processes of a run and watches the
/// host; it is PID 1 of a PID namespace, or a child subreaper where namespaces are not to be had.
/// The outer one, this, waits for it: its end tells the host that everything is gone, and a
/// subreaper that was killed leaves its children to it.
///
/// The host is watched by its pidfd and by the end of its sockets, not by PR_SET_PDEATHSIG: that
/// would fire when the *thread* that opened the session ends.
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "plugins/launchers/local/guard/descendants.hpp"
#include "plugins/launchers/local/guard/supervisor.hpp"

namespace prism::local {
namespace {

constexpr std::chrono::seconds kKillLimit{8};

/// As fork, with namespaces. This process stays outside of them, so that it can try again.
pid_t fork_into(unsigned long namespaces) {
  return static_cast<pid_t>(
      ::syscall(SYS_clone, namespaces | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

bool write_file(const char* path, const std::string& text) {
  const UniqueFd file(::open(path, O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// In a new user namespace: users and groups other than ours do not exist there.
Outcome keep_user(uid_t uid, gid_t gid) {
  const auto same = [](auto id) { return std::to_string(id) + " " + std::to_string(id) + " 1\n"; };
  if (!write_file("/proc/self/setgroups", "deny") || !write_file("/proc/self/uid_map", same(uid)) ||
      !write_file("/proc/self/gid_map", same(gid))) {
    return errno_failure("cannot map the user into a user namespace", errno);
  }
  return {};
}

/// In new PID and mount namespaces.
Outcome make_mounts_own() {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return errno_failure("cannot make mounts private", errno);
  }
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
    return errno_failure("cannot mount /proc", errno);
  }
  return {};
}

/// Starts the inner process in namespaces of its own. On success it serves already.
Outcome start_in_namespaces(const GuardFds& fds, UniqueFd& lifeline_end, bool new_user,
                            pid_t& pid) {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return errno_failure("cannot start a process", errno);
  }
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const uid_t uid = ::getuid();
  const gid_t gid = ::getgid();
  const unsigned long namespaces =
      CLONE_NEWPID | CLONE_NEWNS | (new_user ? static_cast<unsigned long>(CLONE_NEWUSER) : 0UL);
  pid = fork_into(namespaces);
  if (pid < 0) {
    return errno_failure(
        new_user ? "cannot create a user namespace" : "cannot create a PID namespace", errno);
  }
  if (pid == 0) {
    // Outside, the parent has no number in here: the lifeline notices it if it ended before this.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    lifeline_end.reset();
    ours.reset();
    Outcome outcome = new_user ? keep_user(uid, gid) : Outcome{};
    if (outcome.ok()) {
      outcome = make_mounts_own();
    }
    if (!outcome.ok()) {
      send_message(theirs.get(), Reply{outcome.code, 0, 0}, outcome.text);
      ::_exit(1);
    }
    theirs.reset();
    Supervisor(fds).run(new_user ? "PID and mount namespace, inside a user namespace"
                                 : "PID and mount namespace");
    ::_exit(0);  // the kernel kills what is in the namespace and waits for it
  }
  theirs.reset();
  Reply failure{};
  Outcome outcome;
  if (receive_message(ours.get(), failure, &outcome.text) == Received::Message) {
    outcome.code = failure.status;
    ::waitpid(pid, nullptr, 0);
  }
  return outcome;
}

Outcome start_as_subreaper(const GuardFds& fds, UniqueFd& lifeline_end, const std::string& why,
                           pid_t& pid) {
  pid = ::fork();
  if (pid < 0) {
    return errno_failure("cannot start a process", errno);
  }
  if (pid == 0) {
    lifeline_end.reset();
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    Supervisor(fds).run("child subreaper: " + why);
    kill_descendants(kKillLimit);
    ::_exit(0);
  }
  return {};
}

Outcome start_inner(const GuardFds& fds, UniqueFd& lifeline_end, std::string_view isolation,
                    pid_t& pid) {
  if (isolation == "subreaper") {
    return start_as_subreaper(fds, lifeline_end, "asked for by isolation = \"subreaper\"", pid);
  }
  Outcome outcome = start_in_namespaces(fds, lifeline_end, false, pid);
  if (outcome.ok()) {
    return outcome;
  }
  std::string why = outcome.text;
  outcome = start_in_namespaces(fds, lifeline_end, true, pid);
  if (outcome.ok()) {
    return outcome;
  }
  why += "; " + outcome.text;
  if (isolation == "auto") {
    return start_as_subreaper(fds, lifeline_end, "no namespaces here (" + why + ")", pid);
  }
  return {PRISM_STATUS_FAILED_PRECONDITION,
          why + "; set isolation = \"auto\" to keep processes together without namespaces"};
}

bool parse(std::string_view text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// Leaves open what was handed over and standard input, output and error; all of it ends at exec.
void adopt_fds(const GuardFds& fds) {
  std::vector<int> others;
  if (DIR* open_fds = ::opendir("/proc/self/fd")) {
    while (const dirent* entry = ::readdir(open_fds)) {
      int fd = -1;
      if (parse(entry->d_name, fd) && fd > STDERR_FILENO && fd != ::dirfd(open_fds)) {
        others.push_back(fd);
      }
    }
    ::closedir(open_fds);
  }
  for (const int fd : others) {
    if (fd == fds.control || fd == fds.events || fd == fds.host) {
      ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    } else {
      ::close(fd);
    }
  }
}

int guard_main(std::string_view isolation, GuardFds fds) {
  adopt_fds(fds);
  // Descendants of an inner process that was killed come here instead of to the machine's init.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::array<int, 2> lifeline{-1, -1};
  if (::pipe2(lifeline.data(), O_CLOEXEC) != 0) {
    const Outcome failure = errno_failure("cannot create a pipe", errno);
    send_message(fds.control, Reply{failure.code, 0, 0}, failure.text);
    return 1;
  }
  fds.lifeline = lifeline[0];
  UniqueFd lifeline_end(lifeline[1]);
  pid_t inner = 0;
  if (const Outcome started = start_inner(fds, lifeline_end, isolation, inner); !started.ok()) {
    send_message(fds.control, Reply{started.code, 0, 0}, started.text);
    return 1;
  }
  while (::waitpid(inner, nullptr, 0) < 0 && errno == EINTR) {
  }
  kill_descendants(kKillLimit);
  return 0;
}

}  // namespace
}  // namespace prism::local

int main(int argc, char** argv) {
  prism::local::GuardFds fds;
  if (argc != 5 || !prism::local::parse(argv[2], fds.control) ||
      !prism::local::parse(argv[3], fds.events) || !prism::local::parse(argv[4], fds.host)) {
    std::fputs("prism_guard is started by prism, not by hand\n", stderr);
    return 2;
  }
  // No destructors and no leak check: what still runs must end now.
  ::_exit(prism::local::guard_main(argv[1], fds));
}
