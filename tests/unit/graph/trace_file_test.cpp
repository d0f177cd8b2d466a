// SPDX-License-Identifier: Apache-2.0
#include "core/graph/trace_file.hpp"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trace_file/random_trace.hpp"
#include "tests/trace_file/reseal.hpp"
#include "tests/trace_file/temporary.hpp"
#include "tests/unit/graph/programs.hpp"

namespace prism::graph {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using trace_file::bytes_of;
using trace_file::dump;
using trace_file::put_bytes;
using trace_file::random_sample;
using trace_file::random_trace;
using trace_file::TemporaryFolder;

constexpr size_t kHeaderBytes = 32;

Trace read(const std::string& path) {
  auto trace = read_trace(path);
  EXPECT_TRUE(trace.ok()) << trace.status().to_string();
  return trace.ok() ? std::move(trace).value() : Trace();
}

std::string error_of(const std::string& path) {
  const auto trace = read_trace(path);
  return trace.ok() ? "no error" : trace.status().to_string();
}

class TraceFileTest : public testing::Test {
 protected:
  void write(const Trace& trace, Storage storage = Storage::Compressed) {
    const Status written = write_trace(path_, trace, storage);
    ASSERT_TRUE(written.ok()) << written.to_string();
  }
  void append(const std::vector<Sample>& samples) {
    const Status appended = append_samples(path_, 0, samples);
    ASSERT_TRUE(appended.ok()) << appended.to_string();
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path("trace.prism");
};

/// A class of `world` ranks, `nodes` spans each and a collective.
Job one_class(uint32_t world, uint32_t nodes) {
  test::Rig rig(0, world);
  const uint32_t group = rig.group("world", test::ranks_between(0, world - 1));
  for (uint32_t i = 0; i < nodes; ++i) {
    rig.compute(1000 + i);
  }
  rig.collective(Kind::AllReduce, group);
  auto job = instantiate(world, {test::ranks_between(0, world - 1)}, {rig.finish()});
  EXPECT_TRUE(job.ok());
  return std::move(job).value();
}

/// Each rank has times of its own.
Sample own_times(const Job& job) {
  Sample sample;
  for (Rank rank = 0; rank < job.world_size; ++rank) {
    RankTimes times = columns_of(job.program(rank), nullptr);
    for (size_t i = 0; i < times.durations.size(); ++i) {
      times.durations.set(i, 300'000 + static_cast<DurationNs>((rank * 7919 + i * 104'729) % 9973));
    }
    sample.times.set_of.push_back(rank);
    sample.times.sets.push_back(std::move(times));
  }
  return sample;
}

/// With something in every section, and few bytes.
Trace small_trace() {
  Trace trace;
  trace.origin = "a test";
  trace.notes = {"a note"};
  trace.kinds.emplace_back().job = one_class(5, 2);
  trace.kinds[0].samples.push_back(own_times(trace.kinds[0].job));
  trace.times_from = {0, 1, 2, 3, kNone};
  return trace;
}

TEST_F(TraceFileTest, GivesBackWhatWasWritten) {
  size_t sets = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = random_trace(seed);
    write(trace, seed % 2 == 0 ? Storage::Compressed : Storage::Plain);
    ASSERT_TRUE(dump(read(path_)) == dump(trace));
    for (const IterationKind& kind : trace.kinds) {
      for (const Sample& sample : kind.samples) {
        sets += sample.times.sets.size();
      }
    }
  }
  EXPECT_GT(sets, 1000U);
}

TEST_F(TraceFileTest, ReadsPiecesAlone) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = random_trace(seed);
    write(trace);
    auto file = TraceFile::open(path_);
    ASSERT_TRUE(file.ok()) << file.status().to_string();
    EXPECT_EQ(file->origin(), trace.origin);
    EXPECT_EQ(file->notes(), trace.notes);
    EXPECT_EQ(file->times_from(), trace.times_from);
    ASSERT_EQ(file->kind_count(), trace.kinds.size());
    for (uint32_t k = 0; k < trace.kinds.size(); ++k) {
      const IterationKind& kind = trace.kinds[k];
      ASSERT_EQ(file->sample_count(k), kind.samples.size());
      for (uint32_t s = 0; s < kind.samples.size(); ++s) {
        for (Rank rank = 0; rank < kind.job.world_size; ++rank) {
          const auto times = file->rank_times(k, s, rank);
          ASSERT_TRUE(times.ok()) << times.status().to_string();
          const RankTimes* expected = kind.samples[s].times.of(rank);
          EXPECT_EQ(*times, expected == nullptr ? RankTimes() : *expected);
          const auto program = file->program(k, rank);
          ASSERT_TRUE(program.ok()) << program.status().to_string();
          EXPECT_EQ(program->rank, kind.job.program(rank).rank);
          EXPECT_EQ(program->nodes.size(), kind.job.program(rank).nodes.size());
        }
      }
    }
  }
}

TEST_F(TraceFileTest, SaysWhatThereIsNot) {
  write(random_trace(1));
  auto file = TraceFile::open(path_);
  ASSERT_TRUE(file.ok());
  EXPECT_THAT(std::string(file->kind(99).status().message()),
              HasSubstr("has no iteration kind 99, expected below"));
  EXPECT_THAT(std::string(file->sample(0, 99).status().message()), HasSubstr("has no sample 99"));
  EXPECT_THAT(std::string(file->program(0, 99).status().message()), HasSubstr("has no rank 99"));
}

TEST_F(TraceFileTest, OneRankIsReadWithoutTheOthers) {
  Trace trace;
  trace.kinds.emplace_back().job = one_class(512, 1000);
  trace.kinds[0].samples.push_back(own_times(trace.kinds[0].job));
  write(trace);
  ASSERT_GT(bytes_of(path_).size(), 200'000U);
  auto file = TraceFile::open(path_);
  ASSERT_TRUE(file.ok());
  const auto times = file->rank_times(0, 0, 300);
  ASSERT_TRUE(times.ok());
  EXPECT_EQ(*times, trace.kinds[0].samples[0].times.sets[300]);
  // The directory, 48 bytes a rank; heads; the times of this rank and what they refer to.
  EXPECT_LT(file->bytes_read(), 512U * 48 + 10'000);
}

TEST_F(TraceFileTest, RanksThatShareTimesCostNothing) {
  Trace trace;
  const Job& job = (trace.kinds.emplace_back().job = one_class(2048, 1000));
  Sample& sample = trace.kinds[0].samples.emplace_back();
  sample.times.sets.push_back(own_times(job).times.sets[0]);
  sample.times.set_of.assign(2048, 0);
  write(trace);
  EXPECT_LT(static_cast<double>(bytes_of(path_).size()) / (2048.0 * 1001), 0.01);
  EXPECT_TRUE(dump(read(path_)) == dump(trace));
}

TEST_F(TraceFileTest, EqualProgramsAreStoredOnce) {
  const auto size_of = [&](uint32_t ranks) {
    std::vector<std::vector<Rank>> classes;
    std::vector<Program> programs;
    for (Rank rank = 0; rank < ranks; ++rank) {
      test::Rig rig(rank, ranks);
      const uint32_t group = rig.group("world", test::ranks_between(0, ranks - 1));
      for (uint32_t i = 0; i < 5000; ++i) {
        rig.compute((i * i * 7919) % 100'003);
      }
      rig.collective(Kind::AllReduce, group);
      classes.push_back({rank});
      programs.push_back(rig.finish());
    }
    Trace trace;
    trace.kinds.emplace_back().job = *instantiate(ranks, classes, std::move(programs));
    write(trace);
    EXPECT_TRUE(dump(read(path_)) == dump(trace));
    return bytes_of(path_).size();
  };
  EXPECT_LT(size_of(64), size_of(4) + 2000);
}

TEST_F(TraceFileTest, EveryTruncationIsAnError) {
  write(small_trace());
  const std::string whole = bytes_of(path_);
  for (size_t size = 0; size < whole.size(); ++size) {
    put_bytes(path_, whole.substr(0, size));
    ASSERT_THAT(error_of(path_), HasSubstr("'" + path_ + "'")) << size;
  }
}

TEST_F(TraceFileTest, EveryFlippedBitIsAnError) {
  for (const Storage storage : {Storage::Compressed, Storage::Plain}) {
    write(small_trace(), storage);
    const std::string bytes = bytes_of(path_);
    std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    const auto put = [&](size_t at, uint32_t flipped) {
      file.seekp(static_cast<std::streamoff>(at));
      file.put(static_cast<char>(static_cast<uint8_t>(bytes[at]) ^ flipped)).flush();
    };
    for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      put(bit / 8, 1U << bit % 8);
      ASSERT_THAT(error_of(path_), HasSubstr("'" + path_ + "'")) << "byte " << bit / 8;
      put(bit / 8, 0);
    }
    ASSERT_EQ(error_of(path_), "no error");
  }
}

TEST_F(TraceFileTest, AppendedSamplesAreRead) {
  Trace trace = random_trace(5);
  write(trace);
  const Job job = trace.kinds[0].job;
  for (uint64_t i = 0; i < 4; ++i) {
    std::vector<Sample> more;
    for (uint64_t s = 0; s < i; ++s) {
      more.push_back(random_sample(job, 77 * i + s));
    }
    append(more);
    trace.kinds[0].samples.insert(trace.kinds[0].samples.end(), more.begin(), more.end());
    ASSERT_TRUE(dump(read(path_)) == dump(trace));
  }
}

TEST_F(TraceFileTest, AnAppendThatWasCutOffLeavesTheOldContent) {
  Trace trace = random_trace(5);
  write(trace);
  append({random_sample(trace.kinds[0].job, 1)});
  const Trace old = read(path_);
  const size_t old_size = bytes_of(path_).size();
  append({random_sample(trace.kinds[0].job, 2)});
  const std::string whole = bytes_of(path_);
  for (size_t size = old_size + 1; size < whole.size(); ++size) {
    put_bytes(path_, whole.substr(0, size));
    Trace found = read(path_);
    ASSERT_FALSE(found.notes.empty());
    EXPECT_EQ(found.notes.back(),
              "'" + path_ + "' was not written to its end: " + std::to_string(size - old_size) +
                  " bytes that were appended last are left out");
    found.notes.pop_back();
    ASSERT_TRUE(dump(found) == dump(old)) << size;
    EXPECT_FALSE(TraceFile::open(path_)->recovery().empty());
  }
  // The next append takes the place of what was cut off.
  append({random_sample(trace.kinds[0].job, 2)});
  EXPECT_EQ(bytes_of(path_), whole);
}

TEST_F(TraceFileTest, AFlippedBitOfTheLastDirectoryLeavesTheOldContent) {
  const Trace trace = random_trace(5);
  write(trace);
  append({random_sample(trace.kinds[0].job, 2)});
  std::string bytes = bytes_of(path_);
  for (size_t at = bytes.size() - 48 - 48; at < bytes.size(); ++at) {
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    put_bytes(path_, bytes);
    Trace found = read(path_);
    ASSERT_FALSE(found.notes.empty());
    found.notes.pop_back();
    ASSERT_TRUE(dump(found) == dump(trace)) << at;
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
  }
}

TEST_F(TraceFileTest, RefusesSamplesThatDoNotFit) {
  const Trace trace = random_trace(5);
  write(trace);
  const std::string before = bytes_of(path_);
  Sample sample;
  sample.times.set_of.assign(trace.kinds[0].job.world_size, 0);
  sample.times.sets.push_back({Column(12345), {}, {}});
  EXPECT_THAT(append_samples(path_, 0, {sample}).to_string(),
              HasSubstr("the times of rank 0 are of 12345 durations"));
  EXPECT_THAT(append_samples(path_, 9, {}).to_string(), HasSubstr("has no iteration kind 9"));
  EXPECT_EQ(bytes_of(path_), before);
  Trace wrong = trace;
  wrong.kinds[0].samples = {sample};
  EXPECT_FALSE(write_trace(path_, wrong).ok());
  wrong = trace;
  wrong.kinds[0].job.table.pop_back();
  EXPECT_FALSE(write_trace(path_, wrong).ok());
  EXPECT_EQ(bytes_of(path_), before);
}

TEST_F(TraceFileTest, NewerVersionsAreRefused) {
  write(random_trace(5));
  std::string bytes = bytes_of(path_);
  bytes[8] = 2;
  trace_file::reseal(bytes);
  put_bytes(path_, bytes);
  EXPECT_EQ(error_of(path_), "'" + path_ +
                                 "' has version 2.0 of the .prism format; this program reads "
                                 "version 1; use the program that wrote it or a newer one");
  EXPECT_EQ(*content_of_file(path_), FileContent::Other);
  bytes[8] = 1;
  bytes[10] = 9;  // a newer minor version is read
  trace_file::reseal(bytes);
  put_bytes(path_, bytes);
  EXPECT_TRUE(dump(read(path_)) == dump(random_trace(5)));
}

TEST_F(TraceFileTest, UnknownSectionsAreSkipped) {
  Trace trace = random_trace(5);
  write(trace);
  const std::string before = bytes_of(path_);
  append({random_sample(trace.kinds[0].job, 2)});
  // The sections of the second block become ones of a later version, with a codec of theirs.
  std::string bytes = bytes_of(path_);
  const size_t directory_end = bytes.size() - 48;
  uint64_t directory = 0;
  std::memcpy(&directory, bytes.data() + directory_end, 8);
  ASSERT_GT(directory, before.size());
  for (size_t at = directory; at < directory_end; at += 48) {
    bytes[at] = 99;
    bytes[at + 2] = 42;
  }
  trace_file::reseal(bytes);
  put_bytes(path_, bytes);
  EXPECT_TRUE(dump(read(path_)) == dump(trace));
}

TEST_F(TraceFileTest, SaysWhatAFileIs) {
  write(random_trace(5));
  EXPECT_EQ(*content_of_file(path_), FileContent::Trace);
  put_bytes(path_, "something else");
  EXPECT_EQ(*content_of_file(path_), FileContent::Other);
  EXPECT_EQ(error_of(path_),
            "'" + path_ + "' is no .prism file: it does not begin with the mark of one");
  EXPECT_FALSE(content_of_file(folder_.path("missing")).ok());
  EXPECT_FALSE(content_of_file(folder_.folder().string()).ok());
  EXPECT_EQ(read_trace(folder_.path("missing")).status().code(), Code::NotFound);
}

TEST_F(TraceFileTest, DamageIsNamed) {
  Trace trace;
  trace.kinds.emplace_back().job = one_class(2, 100);
  write(trace);
  std::string bytes = bytes_of(path_);
  bytes[kHeaderBytes + 5] ^= 1;
  put_bytes(path_, bytes);
  EXPECT_EQ(error_of(path_), "'" + path_ +
                                 "', section structure (0, 0, 0) at byte 32: is damaged: its "
                                 "checksum is wrong");
}

/// A file of few bytes that claims to hold `nodes` nodes.
std::string file_of_nodes(const std::string& path, uint64_t nodes) {
  Trace trace;
  trace.kinds.emplace_back().job = one_class(2, 40);
  EXPECT_TRUE(write_trace(path, trace, Storage::Plain).ok());
  std::string bytes = bytes_of(path);
  // The structure: iterations, then lanes, texts, and the number of nodes, 41 here.
  const size_t at = bytes.find(std::string("\x29\0\0\0\0\0\0\0", 8), kHeaderBytes);
  EXPECT_NE(at, std::string::npos);
  for (size_t i = 0; i < 8; ++i) {
    bytes[at + i] = static_cast<char>(nodes >> 8 * i & 0xffU);
  }
  trace_file::reseal(bytes);
  return bytes;
}

TEST_F(TraceFileTest, MemoryThatTheFileCannotNeedIsNotTaken) {
  for (const uint64_t nodes : {uint64_t{1} << 30U, uint64_t{1} << 60U, ~uint64_t{0}}) {
    put_bytes(path_, file_of_nodes(path_, nodes));
    EXPECT_THAT(error_of(path_), AllOf(HasSubstr("structure (0, 0, 0)"), HasSubstr("nodes: ")))
        << nodes;
  }
}

TEST_F(TraceFileTest, WhatIsSaidToBeLargerThanItMayIsNotUnpacked) {
  Trace trace;
  trace.kinds.emplace_back().job = one_class(2, 100);
  write(trace);
  std::string bytes = bytes_of(path_);
  uint64_t directory = 0;
  std::memcpy(&directory, bytes.data() + bytes.size() - 48, 8);
  bytes[directory + 32 + 5] = 1;  // raw bytes of the first section: a terabyte more
  trace_file::reseal(bytes);
  put_bytes(path_, bytes);
  EXPECT_THAT(error_of(path_), HasSubstr("bytes are said to hold 1099511"));
}

/// The same structure for very many ranks: memory, and almost no file.
TEST_F(TraceFileTest, AWriterPadsWhatNeedsMuchMemory) {
  constexpr uint32_t kRanks = 400;
  std::vector<std::vector<Rank>> classes;
  std::vector<Program> programs;
  for (Rank rank = 0; rank < kRanks; ++rank) {
    test::Rig rig(rank, kRanks);
    for (uint32_t i = 0; i < 5000; ++i) {
      rig.compute(0);
    }
    classes.push_back({rank});
    programs.push_back(rig.finish());
  }
  Trace trace;
  trace.kinds.emplace_back().job = *instantiate(kRanks, classes, std::move(programs));
  write(trace);
  EXPECT_GT(bytes_of(path_).size(), 500'000U);
  EXPECT_EQ(read(path_).kinds[0].job.classes.size(), kRanks);
  // A bare file gets padding with an append that shares one constant set.
  Sample sample;
  sample.times.sets.assign(3000, {Column(5000), Column(5000), {}});
  const size_t before = bytes_of(path_).size();
  append({sample});
  EXPECT_GT(bytes_of(path_).size(), before + 3000 * 5000 * 8 / 256);
  EXPECT_EQ(read(path_).kinds[0].samples[0].times.sets.size(), 3000U);
}

}  // namespace
}  // namespace prism::graph
