// SPDX-License-Identifier: Apache-2.0
/// Runs code that nobody knows in a child process, and ends it with all that it has started: also
/// what has left its group or session (a daemon), since orphans come to the supervisor.
///
///   Supervisor supervisor;
///   const Ending ending = supervisor.run([] { limit_resources(); ...; _exit(0); }, timeout);
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace prism::child {

/// How the child ended.
struct Ending {
  bool in_time = false;  ///< false: it was killed after the timeout, or for `stopped`
  int status = 0;        ///< as waitpid() has it
  int left = 0;          ///< processes that it left running; they are ended
  bool stopped = false;  ///< a signal asks this process to end
};

/// While it exists, this process takes in orphans, and signals that ask it to end wait: they act
/// when it is destroyed, and what was made after it is tidied up by then. One at a time, in a
/// process that has no other children, which would be ended too. One thread.
class Supervisor {
 public:
  Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  ~Supervisor();

  /// Runs `body`, which must not return, in a forked child in a process group of its own, which
  /// dies with this thread. Nothing: there was no process to be had.
  std::optional<Ending> run(const std::function<void()>& body, std::chrono::milliseconds timeout);

 private:
  sigset_t waited_{};    ///< those that are waited for
  sigset_t old_mask_{};  ///< and what was blocked before
  struct sigaction old_child_action_ {};
  int stopped_by_ = 0;
};

/// "SIGSEGV"; "signal 77" for one without name.
std::string signal_name(int signal);

/// What limit_files() and limit_resources() leave to a process: the size of a file that it writes,
/// and its memory for data.
constexpr uint64_t kMaxFileBytes = uint64_t{64} << 20;
constexpr uint64_t kMaxDataBytes = uint64_t{4} << 30;

/// For a child: no core file, and no file that fills the disk.
void limit_files();
/// The same, and no memory without end (not with a sanitizer, whose shadow memory counts).
void limit_resources(uint64_t data_bytes = kMaxDataBytes);

}  // namespace prism::child
