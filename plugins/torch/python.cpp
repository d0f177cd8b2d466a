// SPDX-License-Identifier: Apache-2.0
#include "plugins/torch/python.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "prism/sdk/error.hpp"

namespace prism::torch_runtime {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds(60);  // a first start from a slow network drive
constexpr size_t kOutputLimit = 64 * 1024;

// One value per line. The current folder is no part of the program's path, so not of ours.
constexpr char kQuestion[] = R"(
import sys
sys.path = [p for p in sys.path if p]
from importlib import metadata
try:
    torch = metadata.version("torch")
except metadata.PackageNotFoundError:
    torch = ""
print("%d.%d.%d" % sys.version_info[:3])
print(torch)
)";

[[noreturn]] void fail(std::string text) {
  throw sdk::Error(PRISM_STATUS_FAILED_PRECONDITION, std::move(text));
}

bool runnable(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

/// A pipe whose ends are closed on exec and at the end of its life.
class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) {
      fail(std::string("cannot make a pipe: ") + std::strerror(errno));
    }
  }
  ~Pipe() {
    close_write();
    ::close(ends_[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void close_write() {
    if (ends_[1] >= 0) {
      ::close(ends_[1]);
      ends_[1] = -1;
    }
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

struct Answer {
  std::string out;
  std::string err;
  int status = 0;
  bool timed_out = false;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const std::string& text : texts) {
    list.push_back(const_cast<char*>(text.c_str()));  // NOLINT: the C interface is not const
  }
  list.push_back(nullptr);
  return list;
}

Answer run(const std::vector<std::string>& argv, const std::vector<std::string>& env) {
  Pipe out;
  Pipe err;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.write_end(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err.write_end(), STDERR_FILENO);
  pid_t child = -1;
  const int error = ::posix_spawn(&child, argv[0].c_str(), &actions, nullptr, pointers(argv).data(),
                                  pointers(env).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    fail("cannot start '" + argv[0] + "': " + std::strerror(error));
  }
  out.close_write();
  err.close_write();

  Answer answer;
  std::array<pollfd, 2> polled{{{out.read_end(), POLLIN, 0}, {err.read_end(), POLLIN, 0}}};
  const std::array<std::string*, 2> texts{&answer.out, &answer.err};
  const Clock::time_point until = Clock::now() + kPatience;
  while (polled[0].fd >= 0 || polled[1].fd >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) {
      answer.timed_out = true;
      ::kill(child, SIGKILL);
      break;
    }
    if (::poll(polled.data(), polled.size(), static_cast<int>(left)) < 0) {
      continue;  // interrupted
    }
    for (size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].revents == 0) {
        continue;
      }
      std::array<char, 4096> piece;
      const ssize_t count = ::read(polled[i].fd, piece.data(), piece.size());
      if (count > 0 && texts[i]->size() < kOutputLimit) {
        texts[i]->append(piece.data(), static_cast<size_t>(count));
      } else if (count == 0 || (count < 0 && errno != EINTR)) {
        polled[i].fd = -1;
      }
    }
  }
  while (::waitpid(child, &answer.status, 0) < 0 && errno == EINTR) {
  }
  return answer;
}

}  // namespace

std::string find_program(const std::string& name, const Environment& env) {
  if (name.find('/') != std::string::npos) {
    if (!runnable(name)) {
      fail("option 'python': there is no program '" + name + "'");
    }
    return std::filesystem::absolute(name).lexically_normal().string();
  }
  const std::string path = env.get("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  std::istringstream folders(path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path candidate = std::filesystem::path(folder) / name;
    if (candidate.is_absolute() && runnable(candidate)) {
      return candidate.string();
    }
  }
  fail("there is no program '" + name + "' in the job's PATH (" + path +
       "): install Python 3, or name another with the option 'python'");
}

Python inspect(const std::string& program, const Environment& env) {
  const Answer answer = run({program, "-c", kQuestion}, env.entries());
  if (answer.timed_out) {
    fail("'" + program + "' did not answer within " + std::to_string(kPatience.count()) +
         " s to the question for its versions: is this a Python?");
  }
  std::istringstream lines(answer.out);
  Python python{.program = program, .version = {}, .torch = {}};
  std::getline(lines, python.version);
  std::getline(lines, python.torch);
  if (!WIFEXITED(answer.status) || WEXITSTATUS(answer.status) != 0 || python.version.empty()) {
    fail("'" + program +
         "' is no Python that works; it said: " + (answer.err.empty() ? "nothing" : answer.err));
  }
  return python;
}

}  // namespace prism::torch_runtime
