// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/elf.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <sstream>
#include <string>

namespace prism::plugin {
namespace {

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Elf, NeedsOfThisProgram) {
  const auto dependencies = read_dependencies("/proc/self/exe");
  ASSERT_TRUE(dependencies.ok()) << dependencies.status().to_string();
  EXPECT_THAT(dependencies->needed, testing::Contains("libc.so.6"));
}

TEST(Elf, WhoNeeds) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  EXPECT_EQ(who_needs(self, "libc.so.6"), self);
  EXPECT_EQ(who_needs(self, "libnobody.so"), "");
}

TEST(Elf, FactsOfALibrary) {
  const auto facts = read_file_facts(PRISM_ELF_SAMPLE);
  ASSERT_TRUE(facts.ok()) << facts.status().to_string();
  EXPECT_TRUE(facts->shared_library);
  EXPECT_TRUE(facts->this_machine);
  EXPECT_FALSE(facts->executable_stack);
  EXPECT_THAT(facts->exports, testing::ElementsAre("prism_plugin_v1"));
}

TEST(Elf, FactsOfThisProgram) {
  const auto facts = read_file_facts("/proc/self/exe");
  ASSERT_TRUE(facts.ok()) << facts.status().to_string();
  EXPECT_FALSE(facts->shared_library);
  EXPECT_THAT(facts->needed, testing::Contains("libc.so.6"));
  EXPECT_THAT(facts->versions, testing::Contains(testing::StartsWith("GLIBC_2.")));
}

TEST(Elf, OtherFilesAreRefused) {
  EXPECT_FALSE(read_dependencies("/proc/self/status").ok());
  EXPECT_FALSE(read_dependencies("/nowhere").ok());
}

// Whatever the bytes are, reading ends, within the file.
TEST(Elf, DamageIsSurvived) {
  const std::string good = slurp(PRISM_ELF_SAMPLE);
  ASSERT_GT(good.size(), 1000U);
  std::string pattern = testing::TempDir() + "prism-XXXXXX";
  const std::string folder = mkdtemp(pattern.data());
  const std::string path = folder + "/lib.so";
  std::mt19937 random(1);
  size_t read = 0;
  for (int i = 0; i < 500; ++i) {
    std::string bytes = good;
    if (i % 4 == 0) {
      bytes.resize(random() % bytes.size());
    }
    for (size_t c = 0; c < 8 && !bytes.empty(); ++c) {
      // Most of the damage goes into the headers, which are what is read.
      const size_t area = c % 2 == 0 ? std::min<size_t>(bytes.size(), 1024) : bytes.size();
      bytes[random() % area] = static_cast<char>(random() % 256);
    }
    std::ofstream(path, std::ios::binary) << bytes;
    read += read_dependencies(path).ok() ? 1 : 0;
    EXPECT_EQ(read_file_facts(path).ok(), read_dependencies(path).ok());
  }
  EXPECT_GT(read, 0U);
  EXPECT_LT(read, 500U);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace prism::plugin
