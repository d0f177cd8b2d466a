// SPDX-License-Identifier: Apache-2.0
#include "core/cli/doctor/child.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace prism::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNoProgram = 127;

std::string exit_text(int code) {
  return "exit code " + std::to_string(code);
}

/// Reads until the end or the deadline. False: the deadline came first.
bool read_until(int fd, Clock::time_point deadline, std::string& output) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) {
      return false;
    }
    pollfd polled{fd, POLLIN, 0};
    if (::poll(&polled, 1, static_cast<int>(std::min<int64_t>(left.count(), 60'000))) <= 0) {
      continue;
    }
    char piece[4096];
    const ssize_t count = ::read(fd, piece, sizeof(piece));
    if (count == 0 || (count < 0 && errno != EINTR)) {
      return true;
    }
    if (count > 0) {  // what is beyond the limit is read too, or the child would block
      const auto room = kMaxChildOutput - output.size();
      output.append(piece, std::min(room, static_cast<size_t>(count)));
    }
  }
}

/// Waits for the end until the deadline, then kills the group. False: it was killed.
bool reap(pid_t pid, Clock::time_point deadline, int& status) {
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    if (Clock::now() >= deadline) {
      ::kill(-pid, SIGKILL);
      ::kill(pid, SIGKILL);  // it may have left its group
      ::waitpid(pid, &status, 0);
      return false;
    }
    ::usleep(1000);
  }
  ::kill(-pid, SIGKILL);  // what it may have left behind
  return true;
}

[[noreturn]] void be_child(const std::function<int(int)>& body, int output) {
  ::setpgid(0, 0);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(null, STDIN_FILENO);
  ::dup2(null, STDERR_FILENO);
  ::_exit(body(output));
}

}  // namespace

ChildResult in_child(const std::function<int(int output)>& body,
                     std::chrono::milliseconds timeout) {
  ChildResult result;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    result.ending = std::string("no pipe: ") + std::strerror(errno);
    return result;
  }
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(ends[0]);
    be_child(body, ends[1]);
  }
  ::close(ends[1]);
  if (pid < 0) {
    result.ending = std::string("no process: ") + std::strerror(errno);
    ::close(ends[0]);
    return result;
  }
  ::setpgid(pid, pid);  // here too: whoever comes first
  const auto deadline = Clock::now() + timeout;
  const bool heard = read_until(ends[0], deadline, result.output);
  ::close(ends[0]);
  int status = 0;
  const bool ended = reap(pid, deadline, status);
  if (!heard || !ended) {
    result.ending = "no answer within " + std::to_string(timeout.count()) + " ms";
  } else if (WIFSIGNALED(status)) {
    result.ending =
        "signal " + std::to_string(WTERMSIG(status)) + " (" + ::strsignal(WTERMSIG(status)) + ")";
  } else if (WEXITSTATUS(status) != 0) {
    result.ending = exit_text(WEXITSTATUS(status));
  } else {
    result.ok = true;
  }
  return result;
}

ChildResult run_program(const std::vector<std::string>& argv, std::chrono::milliseconds timeout) {
  std::vector<char*> words;
  for (const std::string& word : argv) {
    words.push_back(const_cast<char*>(word.c_str()));  // execvp does not write to them
  }
  words.push_back(nullptr);
  ChildResult result = in_child(
      [&](int output) {
        ::dup2(output, STDOUT_FILENO);
        ::execvp(words[0], words.data());
        return kNoProgram;
      },
      timeout);
  if (result.ending == exit_text(kNoProgram)) {
    result.ending = "not found";
  }
  return result;
}

}  // namespace prism::cli
