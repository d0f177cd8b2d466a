// SPDX-License-Identifier: Apache-2.0
/// What remains of a file whose writer is killed or has no room.
#include <chrono>
#include <csignal>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "core/base/descriptor.hpp"
#include "core/graph/trace_file.hpp"
#include "tests/trace_file/random_trace.hpp"
#include "tests/trace_file/temporary.hpp"
#include "tests/unit/graph/programs.hpp"

namespace prism::graph {
namespace {

using std::chrono::microseconds;
using std::chrono::steady_clock;
using testing::HasSubstr;
using trace_file::bytes_of;
using trace_file::dump;
using trace_file::TemporaryFolder;

constexpr int kKills = 200;

/// Of some 100 KB, so that a writer is at work for a while.
Trace some_trace(uint64_t seed) {
  constexpr uint32_t kRanks = 32;
  test::Rig rig(0, kRanks);
  const uint32_t world = rig.group("world", test::ranks_between(0, kRanks - 1));
  for (int i = 0; i < 1000; ++i) {
    rig.compute(i);
  }
  rig.collective(Kind::AllReduce, world);
  Trace trace;
  trace.origin = "seed " + std::to_string(seed);
  IterationKind& kind = trace.kinds.emplace_back();
  kind.job = *instantiate(kRanks, {test::ranks_between(0, kRanks - 1)}, {rig.finish()});
  std::mt19937_64 random(seed);
  for (uint32_t s = 0; s < 2; ++s) {
    Sample& sample = kind.samples.emplace_back();
    sample.iteration = static_cast<uint32_t>(seed);
    for (Rank rank = 0; rank < kRanks; ++rank) {
      RankTimes times = columns_of(kind.job.program(rank), nullptr);
      for (size_t i = 0; i < times.durations.size(); ++i) {
        times.durations.set(i, static_cast<DurationNs>(random() % 1'000'000));
      }
      sample.times.set_of.push_back(rank);
      sample.times.sets.push_back(std::move(times));
    }
  }
  return trace;
}

/// Runs `work` in a process of its own, which is killed after `delay`. Whether it was killed.
bool killed(microseconds delay, const std::function<bool()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(work() ? 0 : 1);
  }
  std::this_thread::sleep_for(delay);
  ::kill(child, SIGKILL);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status)) {
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  return WIFSIGNALED(status);
}

/// A little more than what `work` takes, in a process of its own.
microseconds duration_of(const std::function<bool()>& work) {
  const auto start = steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(work() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return std::chrono::duration_cast<microseconds>(steady_clock::now() - start) * 11 / 10;
}

class Kills {
 public:
  explicit Kills(microseconds longest) : longest_(longest.count()) {
    std::printf("seed %u\n", seed_);
  }
  microseconds next() { return microseconds(static_cast<int64_t>(random_()) % (longest_ + 1)); }

 private:
  unsigned seed_ = std::random_device{}();
  std::minstd_rand random_{seed_};
  int64_t longest_;
};

TEST(TraceFileWriter, KilledWhileItWritesLeavesTheOldOrTheNewFile) {
  const TemporaryFolder folder;
  const std::string path = folder.path("trace.prism");
  const Trace traces[2] = {some_trace(0), some_trace(1)};
  ASSERT_TRUE(write_trace(path, traces[0]).ok());
  const std::string contents[2] = {dump(traces[0]), dump(traces[1])};
  const auto write = [&](int which) {
    return [&, which] { return write_trace(path, traces[which]).ok(); };
  };
  Kills kills(duration_of(write(0)));
  int before_the_end = 0;
  int old = 0;
  int current = 0;
  for (int i = 0; i < kKills; ++i) {
    before_the_end += killed(kills.next(), write(1 - current)) ? 1 : 0;
    const auto found = read_trace(path);
    ASSERT_TRUE(found.ok()) << found.status().to_string();
    const std::string content = dump(*found);
    ASSERT_TRUE(content == contents[0] || content == contents[1]);
    old += content == contents[current] ? 1 : 0;
    current = content == contents[0] ? 0 : 1;
  }
  std::printf("%d of %d killed at work, %d left the old file\n", before_the_end, kKills, old);
  EXPECT_GT(old, kKills / 10);
}

TEST(TraceFileWriter, KilledWhileItAppendsLeavesWhatWasThere) {
  const TemporaryFolder folder;
  const std::string path = folder.path("trace.prism");
  const Trace trace = some_trace(0);
  const auto append = [&] { return append_samples(path, 0, trace.kinds[0].samples).ok(); };
  ASSERT_TRUE(write_trace(path, trace).ok());
  Kills kills(duration_of(append));
  int torn = 0;
  int appended = 0;
  for (int i = 0; i < kKills; ++i) {
    if (i % 20 == 0) {
      ASSERT_TRUE(write_trace(path, trace).ok());
    }
    const size_t before = read_trace(path)->kinds[0].samples.size();
    killed(kills.next(), append);
    auto found = read_trace(path);
    ASSERT_TRUE(found.ok()) << found.status().to_string();
    const size_t now = found->kinds[0].samples.size();
    ASSERT_TRUE(now == before || now == before + 2) << before << ", then " << now;
    for (size_t s = 0; s < now; ++s) {
      ASSERT_EQ(found->kinds[0].samples[s].times, trace.kinds[0].samples[s % 2].times);
    }
    appended += now > before ? 1 : 0;
    torn += found->notes.empty() ? 0 : 1;
  }
  std::printf("%d of %d appended all the same, %d left an end that is left out\n", appended, kKills,
              torn);
  EXPECT_GT(torn, 0);
}

/// Runs `work` in a process that may not write files larger than `bytes`; what it says.
std::string with_room_for(rlim_t bytes, const std::function<Status()>& work) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);  // the write fails, as it does on a full disk
    const rlimit limit{bytes, bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string said = work().to_string();
    const ssize_t written = ::write(ends[1], said.data(), said.size());
    ::_exit(written == static_cast<ssize_t>(said.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  std::string said(4096, '\0');
  const ssize_t size = ::read(ends[0], said.data(), said.size());
  ::close(ends[0]);
  said.resize(size > 0 ? static_cast<size_t>(size) : 0);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return said;
}

TEST(TraceFileWriter, WithoutRoomTheOldFileStays) {
  const TemporaryFolder folder;
  const std::string path = folder.path("trace.prism");
  const Trace trace = some_trace(0);
  ASSERT_TRUE(write_trace(path, trace).ok());
  const std::string before = bytes_of(path);
  const Trace other = some_trace(1);
  const std::string its_path = folder.path("other.prism");
  ASSERT_TRUE(write_trace(its_path, other).ok());
  const size_t enough = bytes_of(its_path).size();
  std::filesystem::remove(its_path);
  for (const size_t room : {size_t{0}, size_t{10}, enough / 2, enough - 1}) {
    EXPECT_THAT(with_room_for(room, [&] { return write_trace(path, other); }),
                HasSubstr("File too large"));
    EXPECT_TRUE(bytes_of(path) == before);
  }
  for (const size_t room : {size_t{0}, size_t{10}, before.size() / 2}) {
    EXPECT_EQ(with_room_for(before.size() + room,
                            [&] { return append_samples(path, 0, trace.kinds[0].samples); }),
              "cannot write '" + path + "': File too large");
    EXPECT_TRUE(bytes_of(path) == before);
  }
  // Nothing else is left behind.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.folder()), {}), 1);
}

TEST(TraceFileWriter, OnlyOneAppends) {
  const TemporaryFolder folder;
  const std::string path = folder.path("trace.prism");
  const Trace trace = some_trace(0);
  ASSERT_TRUE(write_trace(path, trace).ok());
  uint64_t size = 0;
  const auto held = open_regular(path, size);
  ASSERT_TRUE(held.ok());
  ASSERT_EQ(::flock(held.value().get(), LOCK_EX), 0);
  EXPECT_EQ(append_samples(path, 0, trace.kinds[0].samples).to_string(),
            "cannot append to '" + path + "': another process is appending to it");
}

}  // namespace
}  // namespace prism::graph
