// SPDX-License-Identifier: Apache-2.0
// Starting, signalling and reaping through the plugin `local`, in both kinds of isolation.
#include <csignal>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <poll.h>
#include <sched.h>
#include <set>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/integration/launcher/session.hpp"

namespace prism::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Launcher : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const Answer opened = session_.open(GetParam());
    if (GetParam() == "namespace" && opened.code == PRISM_STATUS_FAILED_PRECONDITION) {
      GTEST_SKIP() << opened.message;
    }
    ASSERT_EQ(opened.code, PRISM_STATUS_OK) << opened.message;
  }

  Spec spec(std::vector<std::string> argv) {
    Spec result;
    result.argv = std::move(argv);
    result.out = dir_.path("out");
    result.err = dir_.path("err");
    return result;
  }
  Spec shell(const std::string& script) { return spec({"sh", "-c", script}); }
  Spec probe(std::vector<std::string> args) {
    args.insert(args.begin(), PRISM_LAUNCHER_PROBE);
    return spec(std::move(args));
  }

  uint64_t spawn(const Spec& what) {
    uint64_t process = 0;
    const Answer answer = session_.spawn(what, process);
    EXPECT_EQ(answer.code, PRISM_STATUS_OK) << answer.message;
    return process;
  }
  /// Runs to the end; its standard output.
  std::string run(const Spec& what) {
    const uint64_t process = spawn(what);
    prism_process_exit_t ended{};
    EXPECT_EQ(session_.wait_exit(ended).code, PRISM_STATUS_OK);
    EXPECT_EQ(ended.process, process);
    EXPECT_EQ(ended.signal, 0);
    EXPECT_EQ(ended.exit_code, 0) << read_file(what.err);
    return read_file(what.out);
  }
  Answer refused(const Spec& what) {
    uint64_t process = 0;
    Answer answer = session_.spawn(what, process);
    EXPECT_NE(answer.code, PRISM_STATUS_OK);
    return answer;
  }

  ScratchDir dir_;
  Session session_;
};

INSTANTIATE_TEST_SUITE_P(Isolation, Launcher, ::testing::Values("namespace", "subreaper"),
                         [](const auto& test) { return test.param; });

TEST_P(Launcher, SaysHowProcessesAreKeptTogether) {
  EXPECT_THAT(session_.describe(),
              HasSubstr(GetParam() == "namespace" ? "PID and mount namespace" : "subreaper"));
}

TEST_P(Launcher, ReportsExitCodesAndSignals) {
  const uint64_t seven = spawn(shell("exit 7"));
  prism_process_exit_t ended{};
  ASSERT_EQ(session_.wait_exit(ended).code, PRISM_STATUS_OK);
  EXPECT_EQ(ended.process, seven);
  EXPECT_EQ(ended.exit_code, 7);
  EXPECT_EQ(ended.signal, 0);

  const uint64_t aborted = spawn(shell("kill -ABRT $$"));
  ASSERT_EQ(session_.wait_exit(ended).code, PRISM_STATUS_OK);
  EXPECT_EQ(ended.process, aborted);
  EXPECT_EQ(ended.signal, SIGABRT);
}

TEST_P(Launcher, HasNothingToReportWhileProcessesRun) {
  spawn(shell("sleep 1000"));
  prism_process_exit_t ended{};
  EXPECT_EQ(session_.next_exit(ended).code, PRISM_STATUS_NOT_FOUND);
  pollfd polled{session_.event_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&polled, 1, 0), 0);
}

TEST_P(Launcher, SendsSignals) {
  const uint64_t process = spawn(shell("sleep 1000"));
  ASSERT_EQ(session_.signal(process, SIGTERM).code, PRISM_STATUS_OK);
  prism_process_exit_t ended{};
  ASSERT_EQ(session_.wait_exit(ended).code, PRISM_STATUS_OK);
  EXPECT_EQ(ended.signal, SIGTERM);
  EXPECT_EQ(session_.signal(process, SIGTERM).code, PRISM_STATUS_NOT_FOUND);
  EXPECT_EQ(session_.signal(12345, SIGTERM).code, PRISM_STATUS_NOT_FOUND);
  EXPECT_EQ(session_.signal(process, 1000).code, PRISM_STATUS_INVALID_ARGUMENT);
}

TEST_P(Launcher, WritesOutputToFiles) {
  Spec what = shell("echo to out; echo to err >&2");
  EXPECT_EQ(run(what), "to out\n");
  EXPECT_EQ(read_file(what.err), "to err\n");
  struct stat status {};
  ASSERT_EQ(::stat(what.out.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644U);
  // Truncated by the next one; one file may serve for both.
  what = shell("echo x; echo y >&2; echo z");
  what.err = what.out;
  EXPECT_EQ(run(what), "x\ny\nz\n");
}

TEST_P(Launcher, GivesEnvironmentAndFolder) {
  Spec what = shell("echo \"$A|$B|$HOME\"; pwd; cat");
  what.env = {"PATH=/usr/bin:/bin", "A=1", "B=two words"};
  what.cwd = dir_.path("");
  what.cwd.pop_back();
  EXPECT_EQ(run(what), "1|two words|\n" + what.cwd + "\n");  // standard input is empty
}

TEST_P(Launcher, TakesRelativePathsFromTheHostsFolder) {
  const std::string before = std::filesystem::current_path();
  std::filesystem::create_directory(dir_.path("sub"));
  ASSERT_EQ(::chdir(dir_.path("").c_str()), 0);
  Spec what = shell("pwd");
  what.cwd = "sub";
  what.out = "relative";
  EXPECT_EQ(run(what), dir_.path("sub") + "\n");
  EXPECT_TRUE(std::filesystem::exists(dir_.path("relative")));
  ASSERT_EQ(::chdir(before.c_str()), 0);
}

TEST_P(Launcher, PassesExactlyTheMappedDescriptors) {
  const int leaked = ::open("/dev/null", O_RDONLY);  // not close-on-exec: still must not arrive
  int pipe_ends[2];
  ASSERT_EQ(::pipe2(pipe_ends, O_CLOEXEC), 0);
  Spec what = probe({"fds"});
  what.fds = {{pipe_ends[0], 3}, {pipe_ends[1], 40}, {pipe_ends[1], 5}};
  EXPECT_EQ(run(what), "0 1 2 3 5 40 ");

  what = shell("echo from the child >&9; cat <&4 >&9");
  int back[2];
  ASSERT_EQ(::pipe2(back, O_CLOEXEC), 0);
  // The sources' numbers are the targets' numbers, crossed.
  what.fds = {{back[1], 9}, {pipe_ends[0], 4}};
  ASSERT_EQ(::write(pipe_ends[1], "hello\n", 6), 6);
  ::close(pipe_ends[1]);
  run(what);
  char text[64] = {};
  ASSERT_GT(::read(back[0], text, sizeof(text) - 1), 0);
  EXPECT_STREQ(text, "from the child\nhello\n");
  for (const int fd : {leaked, pipe_ends[0], back[0], back[1]}) {
    ::close(fd);
  }
}

TEST_P(Launcher, MixesNoDescriptorsUp) {
  // The targets are spread over the numbers that the guard itself uses, whatever they are.
  constexpr int kCount = 60;
  Spec what = probe({"first_bytes"});
  std::vector<int> sources;
  std::string expected;
  for (int i = 0; i < kCount; ++i) {
    const char letter = static_cast<char>('A' + i % 26);
    sources.push_back(::memfd_create("source", MFD_CLOEXEC));
    ASSERT_EQ(::write(sources.back(), &letter, 1), 1);
    what.fds.push_back({sources.back(), 3 + 3 * i});
    expected += std::to_string(3 + 3 * i) + letter + " ";
  }
  std::reverse(what.fds.begin(), what.fds.end());
  EXPECT_EQ(run(what), expected);
  for (const int fd : sources) {
    ::close(fd);
  }
}

TEST_P(Launcher, PassesManyDescriptors) {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  Spec what = probe({"fds"});
  std::string expected = "0 1 2 ";
  for (int i = 0; i < 250; ++i) {
    what.fds.push_back({null, 3 + i});
    expected += std::to_string(3 + i) + " ";
  }
  EXPECT_EQ(run(what), expected);
  what.fds.push_back({null, 300});
  EXPECT_EQ(refused(what).code, PRISM_STATUS_INVALID_ARGUMENT);
  ::close(null);
}

TEST_P(Launcher, PinsToCores) {
  cpu_set_t usable;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(usable), &usable), 0);
  for (uint32_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &usable)) {
      Spec what = probe({"status"});
      what.cores = {core};
      EXPECT_THAT(run(what), HasSubstr("Cpus_allowed_list:\t" + std::to_string(core) + "\n"));
    }
  }
  Spec what = shell("true");
  what.cores = {0, 4000};
  const Answer answer = refused(what);
  EXPECT_EQ(answer.code, PRISM_STATUS_FAILED_PRECONDITION);
  EXPECT_THAT(answer.message, HasSubstr("core 4000 cannot be used; this machine offers 0"));
}

TEST_P(Launcher, StartsWithCleanSignals) {
  const auto before = std::signal(SIGINT, SIG_IGN);
  sigset_t blocked;
  sigset_t old;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGUSR1);
  ::sigprocmask(SIG_BLOCK, &blocked, &old);
  Session session;  // its guard inherits nothing of this
  ASSERT_EQ(session.open(GetParam()).code, PRISM_STATUS_OK);
  const Spec what = probe({"status"});
  uint64_t process = 0;
  ASSERT_EQ(session.spawn(what, process).code, PRISM_STATUS_OK);
  ::sigprocmask(SIG_SETMASK, &old, nullptr);
  std::signal(SIGINT, before);
  prism_process_exit_t ended{};
  ASSERT_EQ(session.wait_exit(ended).code, PRISM_STATUS_OK);
  const std::string status = read_file(what.out);
  EXPECT_THAT(status, HasSubstr("SigBlk:\t0000000000000000"));
  EXPECT_THAT(status, HasSubstr("SigIgn:\t0000000000000000"));
}

TEST_P(Launcher, IsOutOfReachOfTheTerminal) {
  EXPECT_EQ(run(probe({"session"})), "1 1");
}

TEST_P(Launcher, SeesItsOwnProcessesInProc) {
  const std::string status = run(shell("test -d /proc/$$ && ls /proc"));
  // In a namespace, the guard is process 1 and the machine's other processes are not there.
  std::set<std::string> entries;
  size_t begin = 0;
  for (size_t end = 0; (end = status.find('\n', begin)) != std::string::npos; begin = end + 1) {
    entries.insert(status.substr(begin, end - begin));
  }
  EXPECT_TRUE(entries.contains("1"));
  EXPECT_EQ(entries.contains(std::to_string(::getpid())), GetParam() == "subreaper");
}

TEST_P(Launcher, PassesLargeArgumentsAndEnvironment) {
  Spec what = probe({"arguments"});
  const std::string large(100'000, 'x');
  for (int i = 0; i < 6; ++i) {
    what.argv.push_back(large);
    what.env.push_back("LARGE" + std::to_string(i) + "=" + large);
  }
  EXPECT_EQ(run(what), "6 600006");
  for (int i = 0; i < 40; ++i) {  // what Linux itself refuses
    what.argv.push_back(large);
  }
  Answer answer = refused(what);
  EXPECT_EQ(answer.code, PRISM_STATUS_RESOURCE_EXHAUSTED);
  EXPECT_THAT(answer.message, HasSubstr("too large"));
  for (int i = 0; i < 60; ++i) {  // what the launcher refuses
    what.argv.push_back(large);
  }
  answer = refused(what);
  EXPECT_EQ(answer.code, PRISM_STATUS_RESOURCE_EXHAUSTED);
  EXPECT_THAT(answer.message, HasSubstr("at most 8388608"));
}

TEST_P(Launcher, RunsManyProcesses) {
  constexpr int kCount = 64;
  std::map<uint64_t, int> expected;
  for (int i = 0; i < kCount; ++i) {
    Spec what = shell("echo $I; exit $I");
    what.env.push_back("I=" + std::to_string(i));
    what.out = dir_.path("out" + std::to_string(i));
    expected[spawn(what)] = i;
  }
  ASSERT_EQ(expected.size(), kCount);  // numbers are unique
  while (!expected.empty()) {
    prism_process_exit_t ended{};
    ASSERT_EQ(session_.wait_exit(ended).code, PRISM_STATUS_OK);
    ASSERT_TRUE(expected.contains(ended.process));
    const int i = expected[ended.process];
    EXPECT_EQ(ended.exit_code, i);
    EXPECT_EQ(read_file(dir_.path("out" + std::to_string(i))), std::to_string(i) + "\n");
    expected.erase(ended.process);
  }
}

TEST_P(Launcher, KeepsEndsThatNobodyTakes) {
  constexpr int kCount = 600;  // more than the socket's buffer holds
  for (int i = 0; i < kCount; ++i) {
    spawn(shell("exit 3"));
  }
  std::set<uint64_t> seen;
  for (int i = 0; i < kCount; ++i) {
    prism_process_exit_t ended{};
    ASSERT_EQ(session_.wait_exit(ended).code, PRISM_STATUS_OK) << i;
    EXPECT_EQ(ended.exit_code, 3);
    EXPECT_TRUE(seen.insert(ended.process).second);
  }
}

TEST_P(Launcher, SaysWhyAProgramCannotStart) {
  Spec what = spec({"no_such_program"});
  what.env = {"PATH=/nowhere:/usr/bin"};
  Answer answer = refused(what);
  EXPECT_EQ(answer.code, PRISM_STATUS_NOT_FOUND);
  EXPECT_EQ(answer.message, "program 'no_such_program' was not found in PATH (/nowhere:/usr/bin)");

  answer = refused(spec({"/nowhere/program"}));
  EXPECT_EQ(answer.code, PRISM_STATUS_NOT_FOUND);
  EXPECT_EQ(answer.message, "program '/nowhere/program' does not exist");

  answer = refused(spec({"/etc/passwd"}));
  EXPECT_EQ(answer.code, PRISM_STATUS_PERMISSION_DENIED);
  EXPECT_THAT(answer.message, HasSubstr("program '/etc/passwd' is not executable"));

  what = spec({"passwd_file"});
  what.env = {"PATH=" + dir_.path("") + ":/usr/bin"};
  std::filesystem::copy("/etc/passwd", dir_.path("passwd_file"));
  answer = refused(what);
  EXPECT_EQ(answer.code, PRISM_STATUS_PERMISSION_DENIED);
  EXPECT_THAT(answer.message, HasSubstr("passwd_file' is not executable"));

  const std::string script = dir_.path("script");
  std::FILE* file = std::fopen(script.c_str(), "we");
  std::fputs("#!/nowhere/python\n", file);
  std::fclose(file);
  ::chmod(script.c_str(), 0755);
  answer = refused(spec({script}));
  EXPECT_EQ(answer.code, PRISM_STATUS_NOT_FOUND);
  EXPECT_THAT(answer.message, HasSubstr("the interpreter or loader that it names does not"));

  ::chmod(dir_.path("passwd_file").c_str(), 0755);
  answer = refused(spec({dir_.path("passwd_file")}));
  EXPECT_EQ(answer.code, PRISM_STATUS_FAILED_PRECONDITION);
  EXPECT_THAT(answer.message, HasSubstr("neither a binary for this machine"));

  what = shell("true");
  what.cwd = "/nowhere";
  answer = refused(what);
  EXPECT_EQ(answer.code, PRISM_STATUS_NOT_FOUND);
  EXPECT_THAT(answer.message, HasSubstr("cannot enter the working directory '/nowhere'"));

  what = shell("true");
  what.out = "/nowhere/out";
  answer = refused(what);
  EXPECT_EQ(answer.code, PRISM_STATUS_NOT_FOUND);
  EXPECT_THAT(answer.message, HasSubstr("cannot open '/nowhere/out' for the standard output"));

  // None of them left a process or an end to report.
  prism_process_exit_t ended{};
  EXPECT_EQ(session_.next_exit(ended).code, PRISM_STATUS_NOT_FOUND);
  EXPECT_EQ(run(shell("echo still works")), "still works\n");
}

TEST_P(Launcher, RefusesSpecsThatCannotBeMeant) {
  EXPECT_EQ(refused(spec({})).code, PRISM_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(refused(spec({"a", std::string("b\0c", 3)})).code, PRISM_STATUS_INVALID_ARGUMENT);
  Spec what = shell("true");
  what.node = "node17";
  EXPECT_THAT(refused(what).message, HasSubstr("not on node 'node17'"));
  what = shell("true");
  what.fds = {{0, 1}};
  EXPECT_EQ(refused(what).code, PRISM_STATUS_INVALID_ARGUMENT);
  what.fds = {{0, 7}, {1, 7}};
  EXPECT_EQ(refused(what).code, PRISM_STATUS_INVALID_ARGUMENT);
  what.fds = {{900, 7}};
  EXPECT_THAT(refused(what).message, HasSubstr("descriptor 900 is not open"));
  what.fds = {{0, 65000}};  // beyond ulimit -n, usually
  uint64_t process = 0;
  const Answer answer = session_.spawn(what, process);
  if (answer.code != PRISM_STATUS_OK) {
    EXPECT_THAT(answer.message, HasSubstr("descriptor number 65000"));
  }
  what = shell("true");
  what.out = "";
  EXPECT_EQ(refused(what).code, PRISM_STATUS_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace prism::test
