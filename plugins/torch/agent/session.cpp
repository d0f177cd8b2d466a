// SPDX-License-Identifier: Apache-2.0
#include "plugins/torch/agent/session.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
#include <utility>

#include "plugins/torch/agent/router.hpp"
#include "plugins/torch/agent/sources.hpp"
#include "prism/host/call_notes.hpp"
#include "prism/wire/socket.hpp"

namespace prism::torch_agent {

void end(int exit_code, const std::string& why) {
  const std::string line = "prism agent: " + why + "\n";
  std::fflush(nullptr);
  // The process ends right now: a short write cannot be mended.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(exit_code);
}

namespace {

/// The coordinator is gone, and with it the reader of whatever we could say.
[[noreturn]] void end_quietly() {
  std::fflush(nullptr);
  ::_exit(kAborted);
}

}  // namespace

Session& Session::get() {
  // Never destroyed: frames are sent while the C library already ends the process.
  static Session& session = *new Session;
  return session;
}

void Session::begin(int fd, uint32_t rank, uint32_t world_size, std::string framework) {
  const Entry entry;
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  fd_ = fd;
  rank_ = rank;
  ::pthread_atfork(nullptr, nullptr, &Session::in_forked_child);
  ::on_exit(&Session::at_exit, this);

  const std::lock_guard lock(mutex_);
  speaking_ = true;
  send(wire::Hello{.rank = rank,
                   .world_size = world_size,
                   .pid = static_cast<uint64_t>(::getpid()),
                   .framework = std::move(framework),
                   .agent = PRISM_PLUGIN_VERSION,
                   .clocks = entry.entered()});
  const wire::Frame answer = receive_frame();
  const auto* welcome = std::get_if<wire::Welcome>(&answer.message);
  if (welcome == nullptr) {
    end(kBug, "HELLO was not answered by WELCOME");
  }
  seed_ = welcome->seed;
  Sources::get().open(welcome->rules);
  RankRouter::get().open(welcome->router);
}

uint32_t Session::group(wire::Group group) {
  if (!speaking()) {
    return 0;
  }
  const std::lock_guard lock(mutex_);
  group.id = groups_++;
  send(std::move(group));
  return groups_ - 1;
}

void Session::ask(wire::Op op) {
  send_and_await_verdict(std::move(op));
}
void Session::ask(wire::Wait wait) {
  send_and_await_verdict(std::move(wait));
}

void Session::tell(wire::Done done) {
  lock_and_send(std::move(done));
}
void Session::tell(wire::Mark mark) {
  lock_and_send(std::move(mark));
}

void Session::prepare_bye(wire::Bye bye) {
  if (speaking()) {
    const std::lock_guard lock(mutex_);
    bye_ = std::move(bye);
  }
}

void Session::at_exit(int exit_code, void* session) {
  host::forget_calls_of_other_threads();
  Sources::get().close();
  RankRouter::get().close();
  auto& self = *static_cast<Session*>(session);
  // Another thread may be blocked under the mutex, waiting for a verdict: then there is no BYE.
  const std::unique_lock lock(self.mutex_, std::try_to_lock);
  if (!lock || !self.speaking()) {
    return;
  }
  wire::Bye& bye = self.bye_;
  bye.exit_code = exit_code;
  const bool as_prepared = (bye.reason == wire::kByeReturned && exit_code == 0) ||
                           (bye.reason == wire::kByeException && exit_code == 1);
  if (!as_prepared) {
    bye.reason = wire::kByeSystemExit;
  }
  self.send(std::move(bye));
  self.speaking_ = false;
}

void Session::in_forked_child() {
  Session& self = get();
  if (self.speaking()) {
    self.speaking_ = false;
    ::close(self.fd_);
  }
}

void Session::lock_and_send(wire::Message message) {
  if (speaking()) {
    const std::lock_guard lock(mutex_);
    send(std::move(message));
  }
}

void Session::send(wire::Message message) {
  buffer_.clear();
  if (!wire::encode({++sent_, std::move(message)}, buffer_)) {
    end(kBug, "a message is larger than " + std::to_string(wire::kMaxBody >> 20) + " MiB");
  }
  if (const int error = wire::send_all(fd_, buffer_); error == EBADF || error == ENOTSOCK) {
    end(kAborted,
        "the program closed descriptor " + std::to_string(fd_) +
            ", over which this rank talks to prism: let it close only descriptors that it "
            "opened itself");
  } else if (error != 0) {
    end_quietly();
  }
}

wire::Frame Session::receive_frame() {
  while (true) {
    if (auto frame = decoder_.next()) {
      return *std::move(frame);
    }
    if (!decoder_.error().empty()) {
      end(kBug, "unreadable answer from the coordinator: " + decoder_.error());
    }
    if (wire::receive(fd_, decoder_) != wire::Received::Bytes) {
      end_quietly();
    }
  }
}

void Session::send_and_await_verdict(wire::Message message) {
  if (!speaking()) {
    return;
  }
  const std::lock_guard lock(mutex_);
  send(std::move(message));
  while (true) {
    const wire::Frame frame = receive_frame();
    const auto* verdict = std::get_if<wire::Verdict>(&frame.message);
    if (verdict == nullptr || verdict->to != sent_) {
      end(kBug, "frame " + std::to_string(sent_) + " was not answered by its verdict");
    }
    switch (verdict->decision) {
      case wire::Decision::Go:
        return;
      case wire::Decision::Block:
        break;
      case wire::Decision::Abort:
        end(kAborted, "ended by the coordinator: " + verdict->reason);
      case wire::Decision::Value:
        end(kBug, "this agent cannot take values from the coordinator");
    }
  }
}

}  // namespace prism::torch_agent
