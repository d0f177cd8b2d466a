// SPDX-License-Identifier: Apache-2.0
// Whatever dies, nothing is left: real processes, found by a marker in their environment.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <dirent.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "tests/integration/launcher/session.hpp"

namespace prism::test {
namespace {

using ::testing::HasSubstr;

class Death : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Session session;
    const Answer opened = session.open(GetParam());
    if (GetParam() == "namespace" && opened.code == PRISM_STATUS_FAILED_PRECONDITION) {
      GTEST_SKIP() << opened.message;
    }
    ASSERT_EQ(opened.code, PRISM_STATUS_OK) << opened.message;
  }

  /// A rank that leaves three daemons behind and stays.
  Spec family(const std::string& marker) {
    Spec spec;
    spec.argv = {PRISM_LAUNCHER_PROBE, "daemons", "3", "stay"};
    spec.env = {marker};
    spec.out = dir_.path("out");
    spec.err = dir_.path("err");
    return spec;
  }
  Answer start_family(Session& session, const std::string& marker) {
    uint64_t process = 0;
    Answer answer = session.spawn(family(marker), process);
    EXPECT_TRUE(eventually([&] { return read_file(dir_.path("out")) == "ready\n"; }));
    EXPECT_EQ(marked_processes(marker, "launcher_probe").size(), 4U);
    return answer;
  }
  static bool nothing_left(const std::string& marker) { return marked_processes(marker).empty(); }

  ScratchDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Isolation, Death, ::testing::Values("namespace", "subreaper"),
                         [](const auto& test) { return test.param; });

TEST_P(Death, CloseEndsEverything) {
  const std::string marker = new_marker();
  Session session;
  ASSERT_EQ(session.open(GetParam()).code, PRISM_STATUS_OK);
  ASSERT_EQ(start_family(session, marker).code, PRISM_STATUS_OK);
  session.close();
  EXPECT_TRUE(nothing_left(marker));  // at once: close waits
}

TEST_P(Death, DaemonsOutliveTheirRankUntilClose) {
  const std::string marker = new_marker();
  Session session;
  ASSERT_EQ(session.open(GetParam()).code, PRISM_STATUS_OK);
  Spec spec = family(marker);
  spec.argv.pop_back();
  uint64_t process = 0;
  ASSERT_EQ(session.spawn(spec, process).code, PRISM_STATUS_OK);
  prism_process_exit_t ended{};
  ASSERT_EQ(session.wait_exit(ended).code, PRISM_STATUS_OK);
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(marked_processes(marker).size(), 3U);
  session.close();
  EXPECT_TRUE(nothing_left(marker));
}

TEST_P(Death, KillOfTheHostAtAnyMomentLeavesNothing) {
  const auto seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  size_t seen = 0;
  for (int round = 0; round < 15; ++round) {
    const std::string marker = new_marker();
    const pid_t host = ::fork();
    ASSERT_GE(host, 0);
    if (host == 0) {
      // The guard gets the marker as well, and must go as well.
      ::putenv(const_cast<char*>(marker.c_str()));
      Session session;
      if (session.open(GetParam()).code != PRISM_STATUS_OK) {
        ::_exit(1);
      }
      while (true) {  // is killed at work
        uint64_t process = 0;
        session.spawn(family(marker), process);
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));
    seen += marked_processes(marker).size();
    ASSERT_EQ(::kill(host, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(host, &status, 0), host);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the host could not open a session";
    EXPECT_TRUE(eventually([&] { return nothing_left(marker); })) << "round " << round;
  }
  EXPECT_GT(seen, 0U);
}

TEST_P(Death, EndOfTheThreadThatOpenedChangesNothing) {
  Session session;
  std::thread([&] { ASSERT_EQ(session.open(GetParam()).code, PRISM_STATUS_OK); }).join();
  const std::string marker = new_marker();
  EXPECT_EQ(start_family(session, marker).code, PRISM_STATUS_OK);
}

TEST_P(Death, DeathOfEitherHalfOfTheGuardIsToldAndLeavesNothing) {
  for (size_t half = 0; half < 2; ++half) {
    const std::string marker = new_marker();
    std::filesystem::remove(dir_.path("out"));
    ::putenv(const_cast<char*>(marker.c_str()));
    Session session;
    const Answer opened = session.open(GetParam());
    ::unsetenv("PRISM_TEST_MARKER");
    ASSERT_EQ(opened.code, PRISM_STATUS_OK) << opened.message;
    ASSERT_EQ(start_family(session, marker).code, PRISM_STATUS_OK);
    const std::vector<pid_t> guard = marked_processes(marker, "prism_guard");
    ASSERT_EQ(guard.size(), 2U);
    ASSERT_EQ(::kill(guard[half], SIGKILL), 0);

    prism_process_exit_t ended{};
    Answer answer;
    do {  // ends that were reported before it died may come first
      answer = session.wait_exit(ended);
    } while (answer.code == PRISM_STATUS_OK);
    EXPECT_EQ(answer.code, PRISM_STATUS_UNAVAILABLE);
    EXPECT_THAT(answer.message, HasSubstr("guard"));
    EXPECT_EQ(session.next_exit(ended).code, PRISM_STATUS_UNAVAILABLE);
    uint64_t process = 0;
    EXPECT_EQ(session.spawn(family(marker), process).code, PRISM_STATUS_UNAVAILABLE);
    EXPECT_EQ(session.signal(1, SIGTERM).code, PRISM_STATUS_UNAVAILABLE);
    session.close();
    EXPECT_TRUE(eventually([&] { return nothing_left(marker); })) << "half " << half;
  }
}

size_t open_fds() {
  size_t count = 0;
  DIR* dir = ::opendir("/proc/self/fd");
  while (::readdir(dir) != nullptr) {
    ++count;
  }
  ::closedir(dir);
  return count;
}

TEST_P(Death, SessionsLeakNothing) {
  const size_t before = open_fds();
  for (int i = 0; i < 100; ++i) {
    Session session;
    ASSERT_EQ(session.open(GetParam()).code, PRISM_STATUS_OK);
    if (i % 10 == 0) {
      Spec spec = family(new_marker());
      uint64_t process = 0;
      ASSERT_EQ(session.spawn(spec, process).code, PRISM_STATUS_OK);
      spec.argv = {"/nowhere"};
      ASSERT_EQ(session.spawn(spec, process).code, PRISM_STATUS_NOT_FOUND);
    }
  }
  EXPECT_EQ(open_fds(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);  // no child, no zombie
}

TEST_P(Death, SessionsAreIndependent) {
  const std::string marker = new_marker();
  Session first;
  ASSERT_EQ(first.open(GetParam()).code, PRISM_STATUS_OK);
  {
    Session second;
    ASSERT_EQ(second.open(GetParam()).code, PRISM_STATUS_OK);
    ASSERT_EQ(start_family(first, marker).code, PRISM_STATUS_OK);
  }
  EXPECT_EQ(marked_processes(marker).size(), 4U);
  first.close();
  EXPECT_TRUE(nothing_left(marker));
}

bool write_text(const char* path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  return file.flush().good();
}

/// What `body` writes, run in a process of its own after `prepare`, which may restrict it.
/// Nothing when `prepare` is not possible here.
std::string in_restricted_process(const std::function<bool()>& prepare,
                                  const std::function<std::string()>& body) {
  int ends[2];
  if (::pipe(ends) != 0) {
    return {};
  }
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    if (prepare()) {
      const std::string text = body();
      [[maybe_unused]] const ssize_t written = ::write(ends[1], text.data(), text.size());
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t size = 0; (size = ::read(ends[0], buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<size_t>(size));
  }
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return text;
}

std::string open_and_describe(const std::string& isolation) {
  Session session;
  const Answer opened = session.open(isolation);
  if (opened.code != PRISM_STATUS_OK) {
    return std::to_string(opened.code) + ": " + opened.message;
  }
  Spec spec;
  spec.argv = {"sh", "-c", "id -u; exit 5"};
  spec.out = "/dev/null";
  spec.err = "/dev/null";
  uint64_t process = 0;
  prism_process_exit_t ended{};
  if (session.spawn(spec, process).code != PRISM_STATUS_OK ||
      session.wait_exit(ended).code != PRISM_STATUS_OK || ended.exit_code != 5) {
    return "cannot run a process";
  }
  return session.describe();
}

/// In a user namespace of its own that allows no PID namespace below it.
bool forbid_pid_namespaces() {
  const std::string uid = std::to_string(::getuid());
  const std::string gid = std::to_string(::getgid());
  return ::unshare(CLONE_NEWUSER) == 0 && write_text("/proc/self/setgroups", "deny") &&
         write_text("/proc/self/uid_map", "0 " + uid + " 1") &&
         write_text("/proc/self/gid_map", "0 " + gid + " 1") &&
         write_text("/proc/sys/user/max_pid_namespaces", "0");
}

TEST(Isolation, FallsBackAndSaysWhy) {
  const std::string text =
      in_restricted_process(forbid_pid_namespaces, [] { return open_and_describe("auto"); });
  if (text.empty()) {
    GTEST_SKIP() << "user namespaces are not to be had here";
  }
  EXPECT_THAT(text,
              HasSubstr("child subreaper: no namespaces here (cannot create a PID namespace"));
}

TEST(Isolation, IsAnErrorWhenNamespacesAreDemanded) {
  const std::string text =
      in_restricted_process(forbid_pid_namespaces, [] { return open_and_describe("namespace"); });
  if (text.empty()) {
    GTEST_SKIP() << "user namespaces are not to be had here";
  }
  EXPECT_THAT(text, HasSubstr(std::to_string(PRISM_STATUS_FAILED_PRECONDITION) + ": "));
  EXPECT_THAT(text, HasSubstr("cannot create a PID namespace"));
  EXPECT_THAT(text, HasSubstr("set isolation = \"auto\""));
}

TEST(Isolation, NeedsNoRoot) {
  const auto become_nobody = [] {
    constexpr uid_t kNobody = 65534;
    return (::getuid() != 0 || (::setgid(kNobody) == 0 && ::setuid(kNobody) == 0)) &&
           ::access(PRISM_LAUNCHER_PLUGIN, R_OK) == 0;
  };
  const std::string text =
      in_restricted_process(become_nobody, [] { return open_and_describe("auto"); });
  if (text.empty()) {
    GTEST_SKIP() << "other users cannot read the build folder";
  }
  if (text.find("no namespaces here") != std::string::npos) {
    GTEST_SKIP() << text;
  }
  EXPECT_EQ(text, "PID and mount namespace, inside a user namespace");
}

TEST(Isolation, NeedsTheGuardBesideThePlugin) {
  const ScratchDir dir;
  const std::string plugin = dir.path("libprism_local.so");
  std::filesystem::copy(PRISM_LAUNCHER_PLUGIN, plugin);
  Session session(load(plugin));
  const Answer opened = session.open("auto");
  EXPECT_EQ(opened.code, PRISM_STATUS_FAILED_PRECONDITION);
  EXPECT_EQ(opened.message, "cannot start the guard of the launcher '" + dir.path("prism_guard") +
                                "': No such file or directory; install the plugin 'local' again");
}

}  // namespace
}  // namespace prism::test
