// SPDX-License-Identifier: Apache-2.0
/// The launcher `local`: processes on this machine under one guard (guard/main.cpp).
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

#include "plugins/launchers/local/guard_client.hpp"
#include "plugins/launchers/local/launch_request.hpp"
#include "plugins/launchers/local/outcome.hpp"
#include "prism/sdk/launcher.hpp"
#include "prism/sdk/plugin.hpp"

namespace prism::local {
namespace {

using sdk::Error;

void check_no_nul(const std::vector<std::string>& texts, const char* what) {
  for (const std::string& text : texts) {
    if (text.find('\0') != std::string::npos) {
      throw Error(PRISM_STATUS_INVALID_ARGUMENT, std::string(what) +
                                                     " must not contain the character 0: '" +
                                                     text.substr(0, text.find('\0')) + "...'");
    }
  }
}

/// The mistakes of a spec that are visible without trying.
void check(const sdk::LaunchSpec& spec) {
  if (!spec.node.empty()) {
    throw Error(PRISM_STATUS_INVALID_ARGUMENT,
                "the launcher 'local' starts processes on this machine only, not on node '" +
                    spec.node + "'");
  }
  if (spec.argv.empty()) {
    throw Error(PRISM_STATUS_INVALID_ARGUMENT, "there is no program to start: argv is empty");
  }
  check_no_nul(spec.argv, "an argument");
  check_no_nul(spec.env, "an environment variable");
  check_no_nul({spec.cwd, spec.stdout_path, spec.stderr_path}, "a path");
  if (spec.fds.size() > kMaxMappedFds) {
    throw Error(PRISM_STATUS_INVALID_ARGUMENT,
                std::to_string(spec.fds.size()) + " descriptors for one process; at most " +
                    std::to_string(kMaxMappedFds) + " can be passed");
  }
  std::set<int32_t> targets;
  for (const prism_fd_map_t& map : spec.fds) {
    if (map.target <= STDERR_FILENO || map.target > 65535 || !targets.insert(map.target).second) {
      throw Error(PRISM_STATUS_INVALID_ARGUMENT,
                  "descriptor number " + std::to_string(map.target) +
                      " in the child is used twice or not in 3..65535");
    }
    if (::fcntl(map.source, F_GETFD) < 0) {
      throw Error(PRISM_STATUS_INVALID_ARGUMENT,
                  "descriptor " + std::to_string(map.source) + " is not open");
    }
  }
}

UniqueFd create_output(const std::string& path, const char* what) {
  if (path.empty()) {
    throw Error(PRISM_STATUS_INVALID_ARGUMENT, "no file is given for the " + std::string(what));
  }
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file) {
    const Outcome failure =
        errno_failure("cannot open '" + path + "' for the " + what + " of a process", errno);
    throw Error(failure.code, failure.text);
  }
  return file;
}

UniqueFd memfd_of(const LaunchRequest& request) {
  const std::string bytes = encode(request);
  if (bytes.size() > kMaxLaunchBytes) {
    throw Error(PRISM_STATUS_RESOURCE_EXHAUSTED,
                "arguments and environment of a process take " + std::to_string(bytes.size()) +
                    " bytes; at most " + std::to_string(kMaxLaunchBytes) + " are possible");
  }
  UniqueFd memfd(::memfd_create("prism-launch", MFD_CLOEXEC));
  size_t done = 0;
  while (memfd && done < bytes.size()) {
    const ssize_t size = ::write(memfd.get(), bytes.data() + done, bytes.size() - done);
    if (size < 0 && errno != EINTR) {
      memfd.reset();
    }
    done += static_cast<size_t>(std::max<ssize_t>(size, 0));
  }
  if (!memfd) {
    throw Error(PRISM_STATUS_RESOURCE_EXHAUSTED,
                "cannot hand a launch request over: " + errno_text(errno));
  }
  return memfd;
}

class LocalLauncher {
 public:
  static constexpr prism_str_t kIsolations[] = {sdk::to_c("auto"), sdk::to_c("namespace"),
                                                sdk::to_c("subreaper")};
  static constexpr auto kOptions = sdk::options(
      sdk::text("isolation",
                "How the processes of a run are kept together: in a PID namespace, by a child "
                "subreaper, or the first of them that this machine allows.")
          .choices(kIsolations)
          .by_default("\"auto\""));

  explicit LocalLauncher(const sdk::OptionValues& values)
      : guard_(values.has("isolation") ? values.text("isolation") : "auto") {}

  std::string describe() { return guard_.description(); }

  uint64_t spawn(const sdk::LaunchSpec& spec) {
    check(spec);
    LaunchRequest request;
    request.argv = spec.argv;
    request.env = spec.env;
    // The guard may have been started in another folder than the present one.
    request.cwd = std::filesystem::absolute(spec.cwd.empty() ? "." : spec.cwd);
    request.cores = spec.cores;
    for (const prism_fd_map_t& map : spec.fds) {
      request.fd_targets.push_back(map.target);
    }
    const UniqueFd memfd = memfd_of(request);
    const UniqueFd standard_output = create_output(spec.stdout_path, "standard output");
    // One file for both: opened once, so that they share a position.
    const UniqueFd standard_error = spec.stderr_path == spec.stdout_path
                                        ? UniqueFd()
                                        : create_output(spec.stderr_path, "standard error");
    std::vector<int> fds{memfd.get(), standard_output.get(),
                         standard_error ? standard_error.get() : standard_output.get()};
    for (const prism_fd_map_t& map : spec.fds) {
      fds.push_back(map.source);
    }
    return guard_.call({RequestKind::Spawn, 0, 0}, fds);
  }

  void signal(uint64_t process, int signo) {
    if (signo < 0 || signo > SIGRTMAX) {
      throw Error(PRISM_STATUS_INVALID_ARGUMENT,
                  "there is no signal " + std::to_string(signo) + " on this machine");
    }
    guard_.call({RequestKind::Signal, signo, process}, {});
  }

  int event_fd() { return guard_.event_fd(); }

  std::optional<sdk::ProcessExit> next_exit() {
    const std::optional<Exit> event = guard_.next_exit();
    if (!event) {
      return std::nullopt;
    }
    return sdk::ProcessExit{event->process, event->exit_code, event->signal};
  }

 private:
  GuardClient guard_;
};

}  // namespace
}  // namespace prism::local

PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION,
             prism::sdk::Launcher<prism::local::LocalLauncher>);
