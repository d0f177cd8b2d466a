// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sched.h>
#include <string>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/cli/doctor/child.hpp"
#include "core/cli/doctor/look.hpp"

namespace prism::cli {
namespace {

bool say(int fd, const std::string& text) {
  return ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// In the first process of new namespaces: what the guard of a run does there.
int set_up_mounts(int output) {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    say(output, std::string("cannot make mounts private: ") + std::strerror(errno));
    return 1;
  }
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
    say(output, std::string("cannot mount /proc: ") + std::strerror(errno));
    return 1;
  }
  return 0;
}

/// Makes a process in these new namespaces, for real, and ends it.
ChildResult try_namespaces(unsigned long flags, bool mounts, std::chrono::milliseconds timeout) {
  return in_child(
      [&](int output) {
        const long pid = ::syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
        if (pid < 0) {
          say(output, std::string("clone: ") + std::strerror(errno));
          return 1;
        }
        if (pid == 0) {
          ::_exit(mounts ? set_up_mounts(output) : 0);
        }
        int status = 0;
        ::waitpid(static_cast<pid_t>(pid), &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
      },
      timeout);
}

std::string reason(const ChildResult& result) {
  return result.output.empty() ? result.ending : result.output;
}

}  // namespace

void look_at_namespaces(const DoctorOptions& options, Facts& facts) {
  const ChildResult user = try_namespaces(CLONE_NEWUSER, false, options.timeout);
  const ChildResult plain = try_namespaces(CLONE_NEWPID | CLONE_NEWNS, true, options.timeout);
  const ChildResult inside =
      plain.ok ? plain
               : try_namespaces(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS, true, options.timeout);

  Fact guard{.id = "namespaces.pid_mount"};
  if (inside.ok) {
    guard.text = plain.ok ? "can be made" : "can be made inside a user namespace";
  } else {
    guard.state = State::Limited;
    guard.text =
        "cannot be made (" + reason(plain) + "; inside a user namespace: " + reason(inside) + ")";
    guard.consequence =
        "the processes of a run are watched by a subreaper instead, and writes of "
        "the job outside its run directory cannot be kept apart";
  }
  facts.push_back(guard);
  // Needed only by users without the right to make the others.
  facts.push_back({.id = "namespaces.user",
                   .state = user.ok || plain.ok ? State::Ok : State::Absent,
                   .text = user.ok ? "can be made" : "cannot be made (" + reason(user) + ")",
                   .consequence = user.ok || plain.ok
                                      ? ""
                                      : "users who are not root get no other namespaces either"});
}

}  // namespace prism::cli
