// SPDX-License-Identifier: Apache-2.0
#include "core/cli/doctor/child.hpp"

#include <chrono>
#include <cstdio>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace prism::cli {
namespace {

using std::chrono::milliseconds;
using ::testing::StartsWith;

constexpr milliseconds kLong{60'000};

int write_text(int fd, const std::string& text) {
  return ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1;
}

TEST(DoctorChild, GivesOutputAndExitCode) {
  const ChildResult good = in_child([](int output) { return write_text(output, "hello"); }, kLong);
  EXPECT_TRUE(good.ok);
  EXPECT_EQ(good.output, "hello");
  const ChildResult bad = in_child([](int) { return 3; }, kLong);
  EXPECT_FALSE(bad.ok);
  EXPECT_EQ(bad.ending, "exit code 3");
}

TEST(DoctorChild, SurvivesACrash) {
  const ChildResult result = in_child(
      [](int output) {
        const rlimit no_core{0, 0};
        ::setrlimit(RLIMIT_CORE, &no_core);
        ::signal(SIGSEGV, SIG_DFL);
        write_text(output, "before");
        return ::raise(SIGSEGV);
      },
      kLong);
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.output, "before");
  EXPECT_THAT(result.ending, StartsWith("signal 11 ("));
}

/// Whether the process ends soon (it is no child of ours: it may be a zombie of the reaper's).
bool ends_soon(pid_t pid) {
  for (int i = 0; i < 1000; ++i) {
    char path[64];
    std::snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    std::string line;
    if (FILE* file = std::fopen(path, "r")) {
      char text[512] = {};
      line.assign(text, std::fread(text, 1, sizeof(text), file));
      std::fclose(file);
    }
    if (line.empty() || line.find(") Z ") != std::string::npos) {
      return true;
    }
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

TEST(DoctorChild, KillsWhatHangsWithAllItHasStarted) {
  const ChildResult result = in_child(
      [](int output) {
        const pid_t grandchild = ::fork();
        if (grandchild == 0) {
          ::pause();
        }
        write_text(output, std::to_string(grandchild));
        ::pause();
        return 0;
      },
      milliseconds(300));
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.ending, "no answer within 300 ms");
  const pid_t grandchild = std::stoi(result.output);
  ASSERT_GT(grandchild, 0);
  EXPECT_TRUE(ends_soon(grandchild));
}

TEST(DoctorChild, EndsDaemons) {
  const ChildResult result = in_child(
      [](int output) {
        if (::fork() == 0) {
          ::setsid();
          const pid_t daemon = ::fork();
          if (daemon == 0) {
            ::sleep(120);  // an end in any case
          } else {
            write_text(output, std::to_string(daemon));
          }
          ::_exit(0);
        }
        ::wait(nullptr);
        return 0;
      },
      kLong);
  EXPECT_TRUE(result.ok) << result.ending;
  EXPECT_TRUE(ends_soon(std::stoi(result.output)));
}

TEST(DoctorChild, KillsWhatHangsAfterItsOutput) {
  const ChildResult result = in_child(
      [](int output) {
        ::close(output);
        ::pause();
        return 0;
      },
      milliseconds(300));
  EXPECT_EQ(result.ending, "no answer within 300 ms");
}

TEST(DoctorChild, KeepsTheBeginningOfEndlessOutput) {
  const ChildResult result = in_child(
      [](int output) {
        for (int i = 0; i < 500; ++i) {
          write_text(output, std::string(4000, 'x'));
        }
        return 0;
      },
      kLong);
  EXPECT_TRUE(result.ok);
  EXPECT_EQ(result.output.size(), kMaxChildOutput);
}

TEST(DoctorChild, RunsPrograms) {
  EXPECT_EQ(run_program({"echo", "a b"}, kLong).output, "a b\n");
  EXPECT_EQ(run_program({"prism-no-such-program"}, kLong).ending, "not found");
}

}  // namespace
}  // namespace prism::cli
