// SPDX-License-Identifier: Apache-2.0
#include "plugins/launchers/local/guard_client.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugins/launchers/local/outcome.hpp"
#include "prism/sdk/error.hpp"
#include "prism/sdk/log.hpp"

namespace prism::local {
namespace {

using sdk::Error;

/// More than what the guard itself allows for killing, which it does at most twice.
constexpr int kEndLimitMs = 20'000;

/// The companion lies beside this plugin.
std::string guard_program() {
  static const char anchor = 0;
  Dl_info info{};
  if (::dladdr(&anchor, &info) == 0 || info.dli_fname == nullptr) {
    throw Error(PRISM_STATUS_INTERNAL, "cannot find out where the plugin 'local' lies");
  }
  std::error_code error;
  const std::filesystem::path plugin = std::filesystem::canonical(info.dli_fname, error);
  if (error) {
    throw Error(PRISM_STATUS_FAILED_PRECONDITION,
                "cannot find the folder of the plugin 'local': " + std::string(info.dli_fname) +
                    ": " + error.message());
  }
  return plugin.parent_path() / "prism_guard";
}

/// Above the numbers that the guard needs for its standard input, output and error.
UniqueFd above_stdio(UniqueFd fd) {
  if (fd.get() > STDERR_FILENO) {
    return fd;
  }
  return UniqueFd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

struct SocketPair {
  UniqueFd ours;
  UniqueFd theirs;
};

SocketPair make_pair() {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw Error(PRISM_STATUS_RESOURCE_EXHAUSTED,
                "cannot create the sockets of the guard: " + errno_text(errno));
  }
  return {above_stdio(UniqueFd(ends[0])), above_stdio(UniqueFd(ends[1]))};
}

/// Of this process; none on kernels without, where the end of the sockets has to do.
UniqueFd own_pidfd() {
  return above_stdio(UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0))));
}

class SpawnSetup {
 public:
  SpawnSetup() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    sigset_t all;
    ::sigfillset(&all);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    // A session of its own: signals of the terminal do not reach it.
    ::posix_spawnattr_setflags(&attributes_,
                               POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnSetup() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  /// Under the same number in the child; dup2 onto itself takes close-on-exec away there only.
  std::string inherit(int fd) {
    if (fd >= 0) {
      ::posix_spawn_file_actions_adddup2(&actions_, fd, fd);
    }
    return std::to_string(fd);
  }
  int run(const std::string& program, std::span<char* const> argv, pid_t& pid) const {
    return ::posix_spawn(&pid, program.c_str(), &actions_, &attributes_, argv.data(), environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

Error guard_gone() {
  return {PRISM_STATUS_UNAVAILABLE,
          "the guard of the launcher has died, and all processes of the run with it"};
}

}  // namespace

GuardClient::GuardClient(const std::string& isolation) {
  start(isolation);
  Reply reply{};
  std::string text;
  if (receive_message(control_.get(), reply, &text) != Received::Message) {
    end();
    throw Error(PRISM_STATUS_FAILED_PRECONDITION,
                "the guard of the launcher ended at once: " + guard_program());
  }
  if (reply.status != PRISM_STATUS_OK) {
    end();
    throw Error(PRISM_STATUS_FAILED_PRECONDITION,
                "this machine cannot keep the processes of a run together: " + text);
  }
  description_ = std::move(text);
}

GuardClient::~GuardClient() {
  end();
}

void GuardClient::start(const std::string& isolation) {
  const std::string program = guard_program();
  SocketPair control = make_pair();
  SocketPair events = make_pair();
  const UniqueFd self = own_pidfd();
  SpawnSetup setup;
  std::array<std::string, 5> args{program, isolation, setup.inherit(control.theirs.get()),
                                  setup.inherit(events.theirs.get()), setup.inherit(self.get())};
  std::array<char*, args.size() + 1> argv{};
  for (size_t i = 0; i < args.size(); ++i) {
    argv[i] = args[i].data();
  }
  if (const int error = setup.run(program, argv, pid_); error != 0) {
    pid_ = -1;
    throw Error(PRISM_STATUS_FAILED_PRECONDITION, "cannot start the guard of the launcher '" +
                                                      program + "': " + errno_text(error) +
                                                      "; install the plugin 'local' again");
  }
  control_ = std::move(control.ours);
  events_ = std::move(events.ours);
}

uint64_t GuardClient::call(const Request& request, std::span<const int> fds) {
  Reply reply{};
  std::string text;
  if (!send_message(control_.get(), request, {}, fds)) {
    const int error = errno;
    if (error == EPIPE || error == ECONNRESET) {
      throw guard_gone();
    }
    throw Error(status_of_errno(error), "cannot talk to the guard: " + errno_text(error));
  }
  if (receive_message(control_.get(), reply, &text) != Received::Message) {
    throw guard_gone();
  }
  if (reply.status != PRISM_STATUS_OK) {
    throw Error(reply.status, std::move(text));
  }
  return reply.process;
}

std::optional<Exit> GuardClient::next_exit() {
  Exit event{};
  switch (receive_message(events_.get(), event, nullptr, nullptr, MSG_DONTWAIT)) {
    case Received::Message:
      return event;
    case Received::Nothing:
      return std::nullopt;
    case Received::Closed:
      break;
  }
  throw guard_gone();
}

void GuardClient::end() noexcept {
  if (pid_ < 0) {
    return;
  }
  // The guard takes the end of our requests as the order to kill all; its outer process keeps its
  // end of the socket until everything is gone.
  ::shutdown(control_.get(), SHUT_WR);
  pollfd polled{control_.get(), POLLIN, 0};
  int ready = 0;
  do {
    ready = ::poll(&polled, 1, kEndLimitMs);
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) {
    sdk::log(sdk::Level::Warn, "a process of the run cannot be killed; it is left to the kernel");
    ::kill(pid_, SIGKILL);
  }
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace prism::local
