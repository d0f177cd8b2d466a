// SPDX-License-Identifier: Apache-2.0
#include "sdk/conformance/child.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "prism/host/text.hpp"
#include "sdk/child/memory_file.hpp"
#include "sdk/child/supervisor.hpp"
#include "sdk/conformance/suite.hpp"

namespace prism::conformance {
namespace {

using child::MemoryFile;
using child::signal_name;
using SharedReport = child::Shared<Report>;

/// Where the started program finds the shared memory.
constexpr int kReportFd = 3;
constexpr uint64_t kMaxDataBytes = uint64_t{2} << 30;

/// A new folder, gone with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    path_ = (std::filesystem::temp_directory_path(error) / "prism-check-XXXXXX").string();
    made_ = mkdtemp(path_.data()) != nullptr;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (made_) {
      std::filesystem::remove_all(path_, ignored);
    }
  }
  bool made() const { return made_; }
  const std::string& path() const { return path_; }
  bool has_files() const {
    std::error_code error;
    return !std::filesystem::is_empty(path_, error) && !error;
  }

 private:
  std::string path_;
  bool made_;
};

Verdict broken(const std::string& what) {
  return {Outcome::Crash, "the test could not be run: " + what + ": " + std::strerror(errno)};
}

/// The process in which the plugin runs.
[[noreturn]] void run_test(const Subject& subject, const Test& test, uint64_t seed,
                           const std::string& folder, int output, Report& report) {
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  close(nothing);
  close(output);
  close(kReportFd);
  child::limit_resources(kMaxDataBytes);
  if (chdir(folder.c_str()) != 0) {
    report.set(broken("no working folder"));
    _exit(0);
  }
  const Verdict verdict = run_here(test, subject, seed, report);
  if (test.leaves_by_exit) {
    // The verdict is given by the process that watches, from how this one ends.
    report.set(verdict);
    std::exit(0);
  }
  report.set(verdict);
  _exit(0);
}

/// The last line that the test printed, shortened.
std::string last_words(int output) {
  constexpr off_t kTail = 600;
  struct stat info {};
  if (fstat(output, &info) != 0 || info.st_size == 0) {
    return {};
  }
  std::string text(static_cast<size_t>(std::min(info.st_size, kTail)), '\0');
  const ssize_t got =
      pread(output, text.data(), text.size(), info.st_size - static_cast<off_t>(text.size()));
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
    text.pop_back();
  }
  const size_t line = text.rfind('\n');
  text.erase(0, line == std::string::npos ? 0 : line + 1);
  return text.empty() ? text : "; it printed: " + host::clean_text({text.data(), text.size()});
}

/// What to make of how the test's process ended.
Verdict judge(const Report& report, int status, int output) {
  const std::string during =
      "during " + std::string(report.doing, strnlen(report.doing, Report::kDoing));
  if (report.came_back != 0) {
    return {Outcome::Fail, "it forked the process, and the copy came back " + during +
                               "; a copy must end or exec inside the plugin"};
  }
  if (WIFSIGNALED(status)) {
    std::string hint;
    if (WTERMSIG(status) == SIGXFSZ) {
      hint = " (it wrote more than " + std::to_string(child::kMaxFileBytes >> 20) + " MiB)";
    }
    return {Outcome::Crash,
            signal_name(WTERMSIG(status)) + hint + " " + during + last_words(output)};
  }
  if (report.finished == 0) {
    return {Outcome::Crash, "it ended the process with exit code " +
                                std::to_string(WEXITSTATUS(status)) + " " + during +
                                last_words(output)};
  }
  if (WEXITSTATUS(status) != 0) {
    return {Outcome::Crash,
            "exit code " + std::to_string(WEXITSTATUS(status)) + " " + during + last_words(output)};
  }
  return report.verdict();
}

}  // namespace

int supervise(const Subject& subject, const std::string& name, uint64_t seed, int64_t timeout_s) {
  const SharedReport report(kReportFd);
  const Suite suite = suite_for(subject);
  const auto test =
      std::find_if(suite.begin(), suite.end(), [&](const Test& t) { return t.name == name; });
  if (!report || test == suite.end()) {
    return 2;
  }
  // A signal that can be waited for, so that nothing is left behind.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  child::Supervisor supervisor;
  const TemporaryFolder folder;
  const MemoryFile output("prism-check-output");
  if (!folder.made() || output.fd() < 0) {
    report->set(broken("no temporary folder or memory"));
    return 0;
  }
  const auto ending = supervisor.run(
      [&] { run_test(subject, *test, seed, folder.path(), output.fd(), *report.get()); },
      std::chrono::seconds(timeout_s));
  if (!ending) {
    report->set(broken("no process"));
    return 0;
  }
  Verdict verdict = judge(*report.get(), ending->status, output.fd());
  if (!ending->in_time) {
    verdict = {Outcome::Timeout, "still at it after " + std::to_string(timeout_s) + " s, during " +
                                     report->doing + last_words(output.fd())};
  }
  const bool held = verdict.outcome == Outcome::Pass || verdict.outcome == Outcome::Warn;
  if (held && ending->left > 0) {
    verdict = {Outcome::Fail, "it left " + std::to_string(ending->left) +
                                  " processes running; it must end and wait for "
                                  "what it starts"};
  } else if (verdict.outcome == Outcome::Pass && !test->hidden && folder.has_files()) {
    verdict = {Outcome::Warn, "it left files in the current folder, which is the user's"};
  }
  report->set(verdict);
  return 0;
}

Verdict run_in_child(const Subject& subject, const std::string& test, uint64_t seed,
                     int64_t timeout_s) {
  const MemoryFile memory("prism-check-report");
  if (memory.fd() < 0 || ftruncate(memory.fd(), sizeof(Report)) != 0) {
    return broken("no shared memory");
  }
  const SharedReport report(memory.fd());
  if (!report) {
    return broken("no shared memory");
  }
  std::vector<std::string> words = subject.child_command;
  words.insert(words.end(), {test, std::to_string(seed), std::to_string(timeout_s)});
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, memory.fd(), kReportFd);
  pid_t child = 0;
  const int error = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  Verdict verdict;
  if (error != 0) {
    errno = error;
    verdict = broken(words[0]);
  } else {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    verdict = report->verdict();
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || report->finished == 0) {
      verdict = {Outcome::Crash, "the process that watches the test ended early"};
    }
  }
  return verdict;
}

}  // namespace prism::conformance
