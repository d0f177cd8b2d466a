// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/folder.hpp"
#include "core/base/statistics.hpp"
#include "core/base/status.hpp"

namespace prism {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) {
    return config_error(std::to_string(n) + " is odd");
  }
  return n / 2;
}

Status quarter(int n, int& out) {
  PRISM_TRY_ASSIGN(const int halved, half(n).context("halving " + std::to_string(n)));
  PRISM_TRY_ASSIGN(out, half(halved));
  return {};
}

TEST(Status, ContextsAreReadFromTheOutside) {
  int out = 0;
  EXPECT_TRUE(quarter(8, out).ok());
  EXPECT_EQ(out, 2);
  const Status status = quarter(7, out).context("cutting the cake");
  EXPECT_EQ(status.to_string(), "cutting the cake\n  caused by: halving 7\n  caused by: 7 is odd");
  EXPECT_EQ(status.code(), Code::InvalidArgument);
}

TEST(Status, EachDomainHasItsExitCode) {
  EXPECT_EQ(Status().exit_code(), 0);
  EXPECT_EQ(run_error("x").exit_code(), 1);
  EXPECT_EQ(config_error("x").exit_code(), 2);
  EXPECT_EQ(plugin_error("x").exit_code(), 3);
  EXPECT_EQ(environment_error("x").exit_code(), 4);
  EXPECT_EQ(Status(Code::Internal, Domain::Bug, "x").exit_code(), 70);
  EXPECT_EQ(Status(Code::Cancelled, Domain::Interrupted, "x").exit_code(), 130);
}

TEST(Statistics, QuantilesInterpolateAsNumpyDoes) {
  // numpy.quantile([10, 20, 40, 80], [0.025, 0.5, 0.975]) = 10.75, 30, 77
  const Spread spread = spread_of({80, 10, 40, 20});
  EXPECT_EQ(spread.low, 11);
  EXPECT_EQ(spread.median, 30);
  EXPECT_EQ(spread.high, 77);
  EXPECT_EQ(spread_of({5}).high, 5);
}

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/prism-base-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(Files, WrittenFilesReadBack) {
  const std::string path = folder_ + "/a";
  ASSERT_TRUE(write_file_atomically(path, "one").ok());
  ASSERT_TRUE(write_file_atomically(path, std::string(1 << 20, 'x')).ok());
  const Result<std::string> back = read_file(path, 1 << 20);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->size(), size_t{1} << 20);
  const auto folder = std::filesystem::path(path).parent_path();
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_EQ(entry.path().string().find(".part-"), std::string::npos);
  }
}

TEST_F(Files, WhatCannotBeReadIsNamed) {
  EXPECT_EQ(read_file(folder_ + "/none", 10).status().code(), Code::NotFound);
  EXPECT_NE(read_file(folder_, 10).status().to_string().find("no regular file"), std::string::npos);
  ASSERT_TRUE(write_file_atomically(folder_ + "/big", "12345").ok());
  EXPECT_EQ(read_file(folder_ + "/big", 4).status().code(), Code::OutOfRange);
  ASSERT_EQ(::mkfifo((folder_ + "/pipe").c_str(), 0600), 0);  // nobody writes to it
  EXPECT_NE(read_file(folder_ + "/pipe", 10).status().to_string().find("no regular file"),
            std::string::npos);
}

TEST_F(Files, AFailedWriteLeavesTheOldFile) {
  const std::string path = folder_ + "/a";
  ASSERT_TRUE(write_file_atomically(path, "old").ok());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit tiny{100, before.rlim_max};
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tiny), 0);
  const Status status = write_file_atomically(path, std::string(1000, 'x'));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(*read_file(path, 10), "old");
}

/// Writes a file with each of the names.
auto writer_of(const std::vector<std::string>& names) {
  return [names](const std::string& folder) -> Status {
    for (const std::string& name : names) {
      PRISM_TRY(write_file_atomically(join_path(folder, name), name));
    }
    return {};
  };
}

TEST_F(Files, AFolderIsReplacedAsAWhole) {
  const std::string path = folder_ + "/out";
  ASSERT_TRUE(replace_folder(path, writer_of({"a", "b"})).ok());
  EXPECT_EQ(*read_file(path + "/b", 10), "b");
  ASSERT_TRUE(replace_folder(path + "/", writer_of({"a", "b", "c"})).ok());
  EXPECT_EQ(*read_file(path + "/c", 10), "c");
  const auto entries = std::filesystem::directory_iterator(folder_);
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1) << "nothing unfinished is left";
}

TEST_F(Files, AFolderWithSomethingElseIsNotReplaced) {
  const std::string path = folder_ + "/out";
  ASSERT_TRUE(replace_folder(path, writer_of({"a", "mine"})).ok());
  const Status status = replace_folder(path, writer_of({"a", "b"}));
  EXPECT_NE(status.to_string().find("it has 'mine', which is not of what is written"),
            std::string::npos);
  EXPECT_EQ(*read_file(path + "/mine", 10), "mine");
  ASSERT_TRUE(write_file_atomically(folder_ + "/file", "old").ok());
  EXPECT_NE(replace_folder(folder_ + "/file", writer_of({"a"})).to_string().find("no folder"),
            std::string::npos);
  EXPECT_EQ(replace_folder(folder_ + "/no/out", writer_of({"a"})).code(), Code::NotFound);
}

TEST_F(Files, AFailedWriteLeavesTheOldFolder) {
  const std::string path = folder_ + "/out";
  ASSERT_TRUE(replace_folder(path, writer_of({"a"})).ok());
  const Status status = replace_folder(path, [](const std::string& unfinished) -> Status {
    PRISM_TRY(write_file_atomically(unfinished + "/a", "new"));
    return run_error("no more");
  });
  EXPECT_EQ(status.to_string(), "no more");
  EXPECT_EQ(*read_file(path + "/a", 10), "a");
  const auto entries = std::filesystem::directory_iterator(folder_);
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

}  // namespace
}  // namespace prism
