// SPDX-License-Identifier: Apache-2.0
#include "sdk/conformance/child.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "prism/host/text.hpp"
#include "sdk/conformance/suite.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PRISM_CONFORMANCE_SANITIZED 1
#else
#define PRISM_CONFORMANCE_SANITIZED 0
#endif

namespace prism::conformance {
namespace {

/// Where the started program finds the shared memory.
constexpr int kReportFd = 3;

/// A file in memory that is gone with its last user.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name) : fd_(memfd_create(name, MFD_CLOEXEC)) {}
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() {
    if (fd_ >= 0) {
      close(fd_);
    }
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

/// The report in shared memory; nullptr when there is no such file or it is too short.
Report* map_report(int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0 || info.st_size < static_cast<off_t>(sizeof(Report))) {
    return nullptr;
  }
  void* memory = mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Report*>(memory);
}

Verdict broken(const std::string& what) {
  return {Outcome::Crash, "the test could not be run: " + what + ": " + std::strerror(errno)};
}

void limit(int resource, uint64_t amount) {
  const rlimit both{amount, amount};
  setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

/// The process in which the plugin runs.
[[noreturn]] void run_test(const Subject& subject, const Test& test, uint64_t seed,
                           const std::string& folder, int output, Report& report) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  close(nothing);
  close(output);
  close(kReportFd);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, kMaxFileBytes);
  if (!PRISM_CONFORMANCE_SANITIZED) {  // whose shadow memory counts
    limit(RLIMIT_DATA, kMaxDataBytes);
  }
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

/// Ends everything that descends from this process, which is their subreaper; how many there were.
int end_descendants(pid_t group) {
  int found = 0;
  for (int round = 0; round < 1000; ++round) {
    int status = 0;
    pid_t ended = 0;
    while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
    }
    if (ended < 0 && errno == ECHILD) {
      break;
    }
    kill(-group, SIGKILL);
    std::ifstream children("/proc/thread-self/children");
    for (pid_t child = 0; children >> child;) {
      found += round == 0 ? 1 : 0;
      kill(child, SIGKILL);
    }
    usleep(1000);
  }
  return found;
}

/// Waits for `child`; false when it did not end in time and was killed.
bool wait_for(pid_t child, int64_t timeout_s, int& status) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t deadline_ms = (now.tv_sec + timeout_s) * 1000 + now.tv_nsec / 1'000'000;
  sigset_t child_signal;
  sigemptyset(&child_signal);
  sigaddset(&child_signal, SIGCHLD);
  while (waitpid(child, &status, WNOHANG) == 0) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t left_ms = deadline_ms - (now.tv_sec * 1000 + now.tv_nsec / 1'000'000);
    if (left_ms <= 0) {
      kill(-child, SIGKILL);
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return false;
    }
    const timespec left{left_ms / 1000, left_ms % 1000 * 1'000'000};
    sigtimedwait(&child_signal, nullptr, &left);
  }
  return true;
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

std::string signal_name(int signal) {
  const char* abbreviation = sigabbrev_np(signal);
  return abbreviation == nullptr ? "signal " + std::to_string(signal)
                                 : "SIG" + std::string(abbreviation);
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
      hint = " (it wrote more than " + std::to_string(kMaxFileBytes >> 20) + " MiB)";
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
  Report* report = map_report(kReportFd);
  const Suite suite = suite_for(subject);
  const auto test =
      std::find_if(suite.begin(), suite.end(), [&](const Test& t) { return t.name == name; });
  if (report == nullptr || test == suite.end()) {
    return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  signal(SIGCHLD, SIG_DFL);  // the caller may ignore it, and children would vanish unseen
  sigset_t child_signal;
  sigemptyset(&child_signal);
  sigaddset(&child_signal, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child_signal, nullptr);

  std::error_code error;
  std::string folder =
      (std::filesystem::temp_directory_path(error) / "prism-check-XXXXXX").string();
  const MemoryFile output("prism-check-output");
  if (mkdtemp(folder.data()) == nullptr || output.fd() < 0) {
    report->set(broken("no temporary folder or memory"));
    return 0;
  }
  const pid_t child = fork();
  if (child == 0) {
    sigprocmask(SIG_UNBLOCK, &child_signal, nullptr);
    run_test(subject, *test, seed, folder, output.fd(), *report);
  }
  int status = 0;
  const bool in_time = child > 0 && wait_for(child, timeout_s, status);
  const int left = child > 0 ? end_descendants(child) : 0;
  Verdict verdict = child < 0 ? broken("no process") : judge(*report, status, output.fd());
  if (child > 0 && !in_time) {
    verdict = {Outcome::Timeout, "still at it after " + std::to_string(timeout_s) + " s, during " +
                                     report->doing + last_words(output.fd())};
  }
  const bool held = verdict.outcome == Outcome::Pass || verdict.outcome == Outcome::Warn;
  if (held && left > 0) {
    verdict = {Outcome::Fail, "it left " + std::to_string(left) +
                                  " processes running; it must end and wait for "
                                  "what it starts"};
  } else if (verdict.outcome == Outcome::Pass && !test->hidden &&
             !std::filesystem::is_empty(folder, error) && !error) {
    verdict = {Outcome::Warn, "it left files in the current folder, which is the user's"};
  }
  std::filesystem::remove_all(folder, error);
  report->set(verdict);
  return 0;
}

Verdict run_in_child(const Subject& subject, const std::string& test, uint64_t seed,
                     int64_t timeout_s) {
  const MemoryFile memory("prism-check-report");
  if (memory.fd() < 0 || ftruncate(memory.fd(), sizeof(Report)) != 0) {
    return broken("no shared memory");
  }
  Report* report = map_report(memory.fd());
  if (report == nullptr) {
    return broken("no shared memory");
  }
  std::vector<std::string> words = subject.child_command;
  words.insert(words.end(), {test, std::to_string(seed), std::to_string(timeout_s)});
  std::vector<char*> argv;
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
  munmap(report, sizeof(Report));
  return verdict;
}

}  // namespace prism::conformance
