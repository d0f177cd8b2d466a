// SPDX-License-Identifier: Apache-2.0
/// The agent's end of the socket to the coordinator: one per process.
///
/// Speaks only in the process that began it: a forked child (a data-loader worker) is silent.
/// Thread: any; sending and waiting for the verdict happen under one mutex, so that a verdict
/// always answers the frame that was sent last. Errors: where the coordinator is gone the process
/// ends quietly, since nobody is left to tell; on ABORT it says why and ends with code 1.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "plugins/torch/agent/clocks.hpp"
#include "prism/wire/agent.hpp"

namespace prism::torch_agent {

/// Says why on standard error and ends the process at once.
[[noreturn]] void end(int exit_code, const std::string& why);

inline constexpr int kAborted = 1;  ///< exit code: the coordinator or a plugin ended the rank
inline constexpr int kBug = 70;

class Session {
 public:
  /// The session of this process.
  static Session& get();

  /// Says HELLO on `fd`, takes WELCOME and opens the plugins that it names. The socket is closed on
  /// exec from here on.
  void begin(int fd, uint32_t rank, uint32_t world_size, std::string framework);

  /// False before begin(), in a forked child and after the end.
  bool speaking() const { return speaking_.load(std::memory_order_relaxed); }
  uint32_t rank() const { return rank_; }
  uint64_t seed() const { return seed_; }

  /// Tells of a communicator and gives its number.
  uint32_t group(wire::Group group);
  uint64_t next_op() { return ++ops_; }
  uint64_t next_batch() { return ++batches_; }

  /// These two block until the coordinator lets the program go on.
  void ask(wire::Op op);
  void ask(wire::Wait wait);

  void tell(wire::Done done);
  void tell(wire::Mark mark);

  /// What BYE will say. It is sent when the C library ends the process, because only there the exit
  /// code is known; a process that ends by other means (os._exit, a signal) says no BYE.
  void prepare_bye(wire::Bye bye);

 private:
  Session() = default;
  static void at_exit(int exit_code, void* session);
  static void in_forked_child();

  // A forked child may inherit the mutex locked: these look whether they may speak before they
  // lock.
  void lock_and_send(wire::Message message);
  void send_and_await_verdict(wire::Message message);

  void send(wire::Message message);
  wire::Frame receive_frame();

  std::atomic<bool> speaking_{false};
  int fd_ = -1;
  uint32_t rank_ = 0;
  uint64_t seed_ = 0;
  std::atomic<uint64_t> ops_{0};
  std::atomic<uint64_t> batches_{0};

  std::mutex mutex_;  // guards all below
  uint32_t groups_ = 0;
  uint64_t sent_ = 0;
  std::string buffer_;
  wire::Decoder decoder_;
  wire::Bye bye_;
};

}  // namespace prism::torch_agent
