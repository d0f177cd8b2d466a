// SPDX-License-Identifier: Apache-2.0
#include "core/cli/doctor/child.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

#include "sdk/child/memory_file.hpp"
#include "sdk/child/supervisor.hpp"

namespace prism::cli {
namespace {

constexpr int kNoProgram = 127;

std::string exit_text(int code) {
  return "exit code " + std::to_string(code);
}

[[noreturn]] void be_child(const std::function<int(int)>& body, int output) {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(null, STDIN_FILENO);
  ::dup2(null, STDERR_FILENO);
  child::limit_files();
  ::_exit(body(output));
}

std::string text_of(int file) {
  std::string text(kMaxChildOutput, '\0');
  size_t size = 0;
  ssize_t got = 0;
  while (size < text.size() && (got = ::pread(file, text.data() + size, text.size() - size,
                                              static_cast<off_t>(size))) > 0) {
    size += static_cast<size_t>(got);
  }
  text.resize(size);
  return text;
}

std::string ending_text(const child::Ending& ending, std::chrono::milliseconds timeout) {
  if (ending.stopped) {
    return "interrupted";
  }
  if (!ending.in_time) {
    return "no answer within " + std::to_string(timeout.count()) + " ms";
  }
  if (WIFSIGNALED(ending.status)) {
    const int signal = WTERMSIG(ending.status);
    return "signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
  }
  return WEXITSTATUS(ending.status) == 0 ? "" : exit_text(WEXITSTATUS(ending.status));
}

}  // namespace

ChildResult in_child(const std::function<int(int output)>& body,
                     std::chrono::milliseconds timeout) {
  ChildResult result;
  child::Supervisor supervisor;
  // A file in place of a pipe: what is read is what was there when the child and all that it had
  // started were gone.
  const child::MemoryFile output("prism-child-output");
  const std::optional<child::Ending> ending =
      output.fd() < 0 ? std::nullopt
                      : supervisor.run([&] { be_child(body, output.fd()); }, timeout);
  if (!ending) {
    result.ending = std::string("no process or memory: ") + std::strerror(errno);
    return result;
  }
  result.output = text_of(output.fd());
  result.ending = ending_text(*ending, timeout);
  result.stopped = ending->stopped;
  result.ok = result.ending.empty();
  return result;
}

ChildResult run_program(const std::vector<std::string>& argv, std::chrono::milliseconds timeout) {
  std::vector<char*> words;
  words.reserve(argv.size() + 1);
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
