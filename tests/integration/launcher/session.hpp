// SPDX-License-Identifier: Apache-2.0
/// The plugin `local` as a host uses it: loaded from its .so, spoken to through its C table.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "prism/abi/draft/launcher.h"

namespace prism::test {

/// The launcher of a plugin file; never unloaded.
const prism_launcher_t* load(const std::string& plugin);
/// That of this build.
const prism_launcher_t* built_launcher();

/// A status with its message.
struct Answer {
  prism_status_t code = PRISM_STATUS_OK;
  std::string message;
};

struct Spec {
  std::vector<std::string> argv;
  std::vector<std::string> env{"PATH=/usr/bin:/bin"};
  std::string cwd = "/";
  std::string out;
  std::string err;
  std::vector<uint32_t> cores{};
  std::vector<prism_fd_map_t> fds{};
  std::string node{};
};

class Session {
 public:
  explicit Session(const prism_launcher_t* launcher = built_launcher()) : launcher_(launcher) {}
  ~Session() { close(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Answer open(const std::string& isolation);
  void close();
  std::string describe();
  Answer spawn(const Spec& spec, uint64_t& process);
  Answer signal(uint64_t process, int signo);
  int event_fd();
  /// As the plugin's next_exit.
  Answer next_exit(prism_process_exit_t& ended);
  /// Waits for the event descriptor until a process has ended or the guard has died.
  Answer wait_exit(prism_process_exit_t& ended);

 private:
  const prism_launcher_t* launcher_;
  prism_launcher_session_t* session_ = nullptr;
};

/// A folder of its own, removed at the end.
class ScratchDir {
 public:
  ScratchDir();
  ~ScratchDir();
  std::string path(const std::string& name) const { return dir_ / name; }

 private:
  std::filesystem::path dir_;
};

std::string read_file(const std::string& path);

/// "NAME=value" that no other process of the machine has in its environment.
std::string new_marker();
/// Processes, zombies left out, that have `marker` in their environment; optionally only those of
/// that program name. Sees into the PID namespaces of guards.
std::vector<pid_t> marked_processes(const std::string& marker, const std::string& name = {});
/// Polls until `condition` holds; false after a minute, which is long on purpose.
bool eventually(const std::function<bool()>& condition);

}  // namespace prism::test
