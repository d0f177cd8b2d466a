// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/agent/lone_rank.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <spawn.h>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

#include "prism/abi/draft/runtime.h"
#include "prism/abi/plugin.h"
#include "prism/wire/socket.hpp"

namespace prism::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kAgentFd = 9;  // in the child
const std::string kFolder = PRISM_BINARY_DIR "/lib/prism/plugins/abi-1/torch";

std::string_view text(prism_str_t s) {
  return {s.ptr, s.len};
}
prism_str_t str(const std::string& s) {
  return {s.data(), s.size()};
}

std::vector<prism_str_t> strs(const std::vector<std::string>& list) {
  std::vector<prism_str_t> views;
  for (const std::string& s : list) {
    views.push_back(str(s));
  }
  return views;
}

void report(void* ctx, prism_status_t /*code*/, prism_str_t message) noexcept {
  static_cast<std::string*>(ctx)->assign(text(message));
}
void write(void* ctx, prism_str_t piece) noexcept {
  static_cast<std::string*>(ctx)->append(text(piece));
}
void append(void* ctx, prism_str_t item) noexcept {
  static_cast<std::vector<std::string>*>(ctx)->emplace_back(text(item));
}

/// A session of the plugin, through its C tables as a host sees them.
class Plugin {
 public:
  Plugin(const std::string& folder, const std::string& python) {
    const std::string file = folder + "/libprism_torch.so";
    void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      throw std::runtime_error(::dlerror());
    }
    const auto entry =
        reinterpret_cast<const prism_plugin_t* (*)()>(::dlsym(handle, PRISM_PLUGIN_ENTRY));
    const std::string id = PRISM_RUNTIME_1;
    table_ = static_cast<const prism_runtime_t*>(entry()->get_interface(str(id)));
    prism_option_value_t values[2] = {};  // the second, a hook, is not set
    values[0].type = PRISM_OPTION_STRING;
    values[0].set = 1;
    values[0].u.text = str(python);
    check(table_->open(values, 2, &session_, &sink_));
  }
  ~Plugin() { table_->close(session_); }
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  Probe probe(const std::vector<std::string>& env) {
    Probe result;
    const auto views = strs(env);
    const prism_text_sink_t out{sizeof(out), 0, &result.lines, &write};
    result.status = table_->probe(session_, views.data(), views.size(), &out, &sink_);
    result.error = error_;
    return result;
  }

  void command(const RankSetup& setup, const std::string& script,
               const std::vector<std::string>& env, std::vector<std::string>& argv,
               std::vector<std::string>& full_env) {
    const auto args = strs(setup.args);
    const auto views = strs(env);
    const prism_rank_spec_t spec{
        sizeof(spec), 0,           setup.rank, setup.world_size, 0,           1,
        kAgentFd,     0,           setup.seed, str(script),      args.data(), args.size(),
        views.data(), views.size()};
    struct Lists {
      std::vector<std::string>&argv, &env;
    } lists{argv, full_env};
    const prism_command_sink_t sink{
        sizeof(sink), 0, &lists,
        [](void* ctx, prism_str_t s) noexcept { append(&static_cast<Lists*>(ctx)->argv, s); },
        [](void* ctx, prism_str_t s) noexcept { append(&static_cast<Lists*>(ctx)->env, s); }};
    check(table_->command(session_, &spec, &sink, &sink_));
  }

  int stack_signal() { return table_->stack_signal(session_); }

 private:
  void check(prism_status_t status) {
    if (status != PRISM_STATUS_OK) {
      throw std::runtime_error(error_);
    }
  }

  std::string error_;
  const prism_error_sink_t sink_{sizeof(sink_), 0, &error_, &report};
  const prism_runtime_t* table_ = nullptr;
  prism_runtime_session_t* session_ = nullptr;
};

Plugin& plugin() {
  static Plugin one(kFolder, test_python());
  return one;
}

/// A file without a name.
int scratch() {
  std::string path = (fs::temp_directory_path() / "prism-agent-test-XXXXXX").string();
  const int fd = ::mkostemp(path.data(), O_CLOEXEC);
  ::unlink(path.c_str());
  return fd;
}

std::string read_all(int fd) {
  std::string content;
  char piece[4096];
  ::lseek(fd, 0, SEEK_SET);
  for (ssize_t n = 0; (n = ::read(fd, piece, sizeof(piece))) > 0;) {
    content.append(piece, static_cast<size_t>(n));
  }
  ::close(fd);
  return content;
}

pid_t spawn(std::vector<std::string> argv, std::vector<std::string> env, int socket, int out,
            int err) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, socket, kAgentFd);
  std::vector<char*> argv_pointers;
  std::vector<char*> env_pointers;
  for (std::string& s : argv) {
    argv_pointers.push_back(s.data());
  }
  for (std::string& s : env) {
    env_pointers.push_back(s.data());
  }
  argv_pointers.push_back(nullptr);
  env_pointers.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, argv[0].c_str(), &actions, nullptr, argv_pointers.data(),
                                  env_pointers.data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw std::runtime_error("cannot start " + argv[0] + ": " + std::strerror(error));
  }
  return pid;
}

void send(int socket, uint64_t& seq, wire::Message message) {
  std::string bytes;
  wire::encode({++seq, std::move(message)}, bytes);
  wire::send_all(socket, bytes);
}

/// Reads and answers until the rank closes its end.
void converse(int socket, pid_t pid, const RankSetup& setup, RankRun& run) {
  wire::Decoder decoder;
  uint64_t seq = 0;
  Clock::time_point quiet_since = Clock::now();
  bool told_quiet = false;
  const Clock::time_point until = Clock::now() + setup.patience;
  while (true) {
    while (auto frame = decoder.next()) {
      run.frames.push_back(*frame);
      const wire::Message& message = frame->message;
      if (std::holds_alternative<wire::Hello>(message)) {
        send(socket, seq, wire::Welcome{.seed = setup.seed});
      } else if (const auto* op = std::get_if<wire::Op>(&message);
                 op != nullptr && op->id == setup.hang_up_at_op) {
        return;
      } else if (std::holds_alternative<wire::Op>(message) ||
                 std::holds_alternative<wire::Wait>(message)) {
        wire::Verdict verdict = setup.decide ? setup.decide(*frame) : wire::Verdict{};
        verdict.to = frame->seq;
        send(socket, seq, verdict);
        if (verdict.decision == wire::Decision::Block) {
          send(socket, seq, wire::Verdict{.to = frame->seq});
        }
      }
    }
    if (!decoder.error().empty()) {
      run.protocol_error = decoder.error();
      ::kill(pid, SIGKILL);
      return;
    }
    pollfd polled{socket, POLLIN, 0};
    const int ready = ::poll(&polled, 1, 50);
    if (ready > 0) {
      quiet_since = Clock::now();
      if (wire::receive(socket, decoder) != wire::Received::Bytes) {
        return;
      }
    } else if (setup.on_quiet && !told_quiet && !run.frames.empty() &&
               Clock::now() - quiet_since > setup.quiet) {
      told_quiet = true;
      setup.on_quiet(pid);
    }
    if (Clock::now() > until) {
      run.timed_out = true;
      ::kill(pid, SIGKILL);
      return;
    }
  }
}

std::vector<std::string> base_env() {
  return {"PATH=/usr/bin:/bin", "HOME=/tmp", "LANG=C.UTF-8"};
}

}  // namespace

std::string test_python() {
  const std::string own = PRISM_SOURCE_DIR "/.venv/bin/python";
  return fs::exists(own) ? own : "python3";
}

uint64_t RankRun::made_up(uint8_t source) const {
  uint64_t bytes = 0;
  for (const wire::Done& done : all<wire::Done>()) {
    for (const wire::MadeUp& part : done.made_up) {
      bytes += part.source == source ? part.bytes : 0;
    }
  }
  return bytes;
}

std::string RankRun::describe() const {
  std::ostringstream line;
  line << frames.size() << " frames, exit code " << exit_code << ", signal " << signal
       << (timed_out ? ", timed out" : "") << "\n"
       << protocol_error << "\n--- stdout\n"
       << out << "--- stderr\n"
       << err;
  return line.str();
}

RankRun run_rank(const RankSetup& setup) {
  std::vector<std::string> env = base_env();
  for (const auto& [name, value] : setup.env) {
    env.push_back(name + "=" + value);
  }
  const std::string script =
      setup.script.starts_with('/')
          ? setup.script
          : PRISM_SOURCE_DIR "/tests/integration/agent/scripts/" + setup.script;
  std::vector<std::string> argv;
  std::vector<std::string> full_env;
  plugin().command(setup, script, env, argv, full_env);
  for (const auto& [name, value] : setup.override_env) {
    std::erase_if(full_env, [&name = name](const std::string& entry) {
      return entry.starts_with(name + "=");
    });
    full_env.push_back(name + "=" + value);
  }

  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    throw std::runtime_error(std::strerror(errno));
  }
  const int out = scratch();
  const int err = scratch();
  const pid_t pid = spawn(std::move(argv), std::move(full_env), sockets[1], out, err);
  ::close(sockets[1]);

  RankRun run;
  converse(sockets[0], pid, setup, run);
  ::close(sockets[0]);
  int status = 0;
  const Clock::time_point until = Clock::now() + setup.patience;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    if (Clock::now() > until) {
      run.timed_out = true;
      ::kill(pid, SIGKILL);
    }
    ::usleep(2000);
  }
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  run.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  run.out = read_all(out);
  run.err = read_all(err);
  return run;
}

int stack_signal() {
  return plugin().stack_signal();
}

Probe probe(const std::string& python, const std::vector<std::string>& env,
            const std::string& folder) {
  return Plugin(folder.empty() ? kFolder : folder, python).probe(env);
}

std::string why_not() {
  static const Probe result = plugin().probe(base_env());
  return result.error;
}

}  // namespace prism::test
