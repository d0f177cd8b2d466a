// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/discovery.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "core/plugin/registry.hpp"

namespace prism::plugin {
namespace {

using testing::HasSubstr;

class Discovery : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "prism-XXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  /// A plugin folder whose library is an empty file; returns the folder.
  std::string add(const std::string& where, const std::string& id,
                  const std::string& abi = "major = 1", const std::string& more = "") {
    const std::string folder = root_ + "/" + where;
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/plugin.toml")
        << "manifest = 1\n[plugin]\nid = \"" << id
        << "\"\nversion = \"1.0.0\"\nlibrary = \"lib.so\"\n"
        << "[abi]\n"
        << abi << "\n[provides]\ninterfaces = [\"prism.router/1\"]\n"
        << more;
    std::ofstream(folder + "/lib.so") << "";
    return folder;
  }

  std::string root_;
};

TEST_F(Discovery, OverridesThenRootsInOrder) {
  const std::string own = add("own", "zipf");
  add("a/zipf", "zipf");
  add("a/even", "even");
  add("b/even", "even");
  add("b/odd", "odd");
  const auto found =
      discover({{{"zipf", own}}, {root_ + "/a", root_ + "/b", root_ + "/not-there"}});
  ASSERT_EQ(found.size(), 5U);
  const auto is = [&](size_t i, const char* id, State state, const std::string& folder) {
    EXPECT_EQ(found[i].id, id);
    EXPECT_EQ(found[i].state, state) << found[i].reason;
    EXPECT_EQ(found[i].folder, root_ + "/" + folder);
  };
  is(0, "zipf", State::Ok, "own");
  is(1, "even", State::Ok, "a/even");
  is(2, "zipf", State::Shadowed, "a/zipf");
  is(3, "even", State::Shadowed, "b/even");
  is(4, "odd", State::Ok, "b/odd");
  EXPECT_EQ(found[2].reason, "found first in " + own);
}

TEST_F(Discovery, IncompatibleWithBothNumbers) {
  add("r/major", "major", "major = 2");
  add("r/minor", "minor", "major = 1\nmin_host_minor = 7");
  const auto found = discover({{}, {root_ + "/r"}});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].state, State::Incompatible);
  EXPECT_EQ(found[0].reason, "needs plugin ABI major 2, this program has 1");
  EXPECT_EQ(found[1].state, State::Incompatible);
  EXPECT_EQ(found[1].reason, "needs plugin ABI 1.7 or later, this program has 1.0");
}

TEST_F(Discovery, OtherSanitizer) {
#if defined(__SANITIZE_ADDRESS__)
  const std::string other = "thread";
#else
  const std::string other = "address";
#endif
  add("r/sane", "sane", "major = 1", "[build]\nsanitizers = [\"" + other + "\"]\n");
  const auto found = discover({{}, {root_ + "/r"}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].state, State::Incompatible);
  EXPECT_EQ(found[0].reason, "was built with the " + other + " sanitizer, this program without");
}

TEST_F(Discovery, BrokenFolders) {
  std::filesystem::remove(add("r/a_library", "a_library") + "/lib.so");
  add("r/companion", "companion", "major = 1", "[[companion]]\nfile = \"agent.so\"\n");
  std::filesystem::create_directories(root_ + "/r/empty");
  std::filesystem::create_directories(root_ + "/r/syntax");
  std::ofstream(root_ + "/r/syntax/plugin.toml") << "manifest = \n";
  std::ofstream(root_ + "/r/a_file") << "not a folder, no candidate";
  const auto found = discover({{}, {root_ + "/r"}});
  ASSERT_EQ(found.size(), 4U);
  for (const Candidate& candidate : found) {
    EXPECT_EQ(candidate.state, State::Broken) << candidate.folder;
  }
  EXPECT_EQ(found[0].reason, "its file lib.so is missing");
  EXPECT_EQ(found[1].reason, "its file agent.so is missing");
  EXPECT_EQ(found[2].id, "empty");
  EXPECT_THAT(found[2].reason, HasSubstr("/r/empty/plugin.toml"));
  EXPECT_THAT(found[3].reason, HasSubstr("/r/syntax/plugin.toml:1:"));
}

TEST_F(Discovery, FoldersOfTheCommandLineComeFirst) {
  const std::string mine = add("mine", "zipf");
  const std::string other = add("other", "zipf");
  const auto found = discover({.overrides = {{"zipf", other}}, .roots = {}, .folders = {mine}});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].folder, mine);
  EXPECT_EQ(found[0].state, State::Ok) << found[0].reason;
  EXPECT_EQ(found[1].state, State::Shadowed);
}

TEST_F(Discovery, OneLevelDeep) {
  add("r/group/zipf", "zipf");
  const auto found = discover({{}, {root_ + "/r"}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].id, "group");
  EXPECT_EQ(found[0].state, State::Broken);
}

TEST_F(Discovery, WhatEverybodyMayChangeIsRefused) {
  namespace fs = std::filesystem;
  const auto open_up = [](const std::string& path) {
    fs::permissions(path, fs::perms::others_write, fs::perm_options::add);
  };
  open_up(add("r/a_folder", "a_folder"));
  open_up(add("r/b_manifest", "b_manifest") + "/plugin.toml");
  open_up(add("r/c_library", "c_library") + "/lib.so");
  const std::string companion =
      add("r/d_companion", "d_companion", "major = 1", "[[companion]]\nfile = \"agent.so\"\n");
  std::ofstream(companion + "/agent.so") << "";
  open_up(companion + "/agent.so");
  add("r/e_good", "e_good");
  add("open/zipf", "zipf");
  open_up(root_ + "/open");

  SearchPath path{{}, {root_ + "/r", root_ + "/open"}};
  const auto found = discover(path);
  ASSERT_EQ(found.size(), 6U);
  const std::string files[] = {"/r/a_folder",
                               "/r/b_manifest/plugin.toml",
                               "/r/c_library/lib.so",
                               "/r/d_companion/agent.so",
                               "",
                               "/open"};
  for (size_t i = 0; i < found.size(); ++i) {
    if (files[i].empty()) {
      EXPECT_EQ(found[i].state, State::Ok) << found[i].reason;
    } else {
      EXPECT_EQ(found[i].state, State::Broken) << found[i].folder;
      EXPECT_THAT(found[i].reason, HasSubstr("everybody may write to " + root_ + files[i] + ";"));
    }
  }
  Registry registry(path);
  const auto loaded = registry.load("zipf");
  EXPECT_EQ(loaded.status().exit_code(), 3);
  EXPECT_THAT(loaded.status().to_string(), HasSubstr("--allow-insecure-plugin-dir"));

  path.allow_insecure = true;
  for (const Candidate& candidate : discover(path)) {
    EXPECT_EQ(candidate.state, State::Ok) << candidate.reason;
  }
}

TEST_F(Discovery, WhatAGroupMayChangeIsRefused) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can give a file to another group";
  }
  constexpr gid_t kStrangers = 54321;
  const std::string folder = add("r/zipf", "zipf");
  ASSERT_EQ(chown(folder.c_str(), 0, kStrangers), 0);
  EXPECT_EQ(examine(folder).state, State::Ok);
  ASSERT_EQ(chmod(folder.c_str(), 0775), 0);
  EXPECT_THAT(examine(folder).reason,
              HasSubstr("the group with number 54321 may write to " + folder + ";"));
  EXPECT_THAT(examine(folder).reason, HasSubstr("Expected: chmod g-w " + folder));
  EXPECT_EQ(examine(folder, /*allow_insecure=*/true).state, State::Ok);
}

TEST_F(Discovery, FoldersAboveCountToo) {
  const std::string folder = add("above/r/zipf", "zipf");
  ASSERT_EQ(chmod((root_ + "/above").c_str(), 0777), 0);
  EXPECT_THAT(examine(folder).reason, HasSubstr("everybody may write to " + root_ + "/above;"));
  // Through a link it is no better, and the sticky bit keeps others from replacing what is in it.
  std::filesystem::create_directory_symlink(root_ + "/above/r", root_ + "/link");
  EXPECT_THAT(examine(root_ + "/link/zipf").reason,
              HasSubstr("everybody may write to " + root_ + "/above;"));
  ASSERT_EQ(chmod((root_ + "/above").c_str(), 01777), 0);
  EXPECT_EQ(examine(folder).state, State::Ok) << examine(folder).reason;
  if (geteuid() == 0) {
    constexpr uid_t kStranger = 54321;
    ASSERT_EQ(chown((root_ + "/above/r").c_str(), kStranger, kStranger), 0);
    EXPECT_THAT(examine(folder).reason,
                HasSubstr("/above/r belongs to the user with number 54321"));
  }
}

TEST_F(Discovery, AllPluginsOfALargeRoot) {
  constexpr size_t kMany = 1500;
  for (size_t i = 0; i < kMany; ++i) {
    add("r/p" + std::to_string(i), "p" + std::to_string(i));
  }
  EXPECT_EQ(discover({{}, {root_ + "/r"}}).size(), kMany);
}

TEST_F(Discovery, WhatBelongsToAnotherUserIsRefused) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can give a file away";
  }
  const std::string folder = add("r/zipf", "zipf");
  constexpr uid_t kStranger = 54321;
  ASSERT_EQ(chown((folder + "/lib.so").c_str(), kStranger, kStranger), 0);
  const auto found = discover({{}, {root_ + "/r"}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].state, State::Broken);
  EXPECT_THAT(found[0].reason, HasSubstr("/lib.so belongs to the user with number 54321"));
}

TEST_F(Discovery, ManifestThatIsAPipeDoesNotBlock) {
  std::filesystem::create_directories(root_ + "/r/pipe");
  ASSERT_EQ(mkfifo((root_ + "/r/pipe/plugin.toml").c_str(), 0600), 0);
  const auto found = discover({{}, {root_ + "/r"}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].state, State::Broken);
  EXPECT_THAT(found[0].reason, HasSubstr("it is no regular file"));
}

TEST_F(Discovery, OverrideWithAnotherPlugin) {
  const std::string folder = add("own", "zipf");
  const auto found = discover({{{"even", folder}}, {}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].id, "even");
  EXPECT_EQ(found[0].state, State::Broken);
  EXPECT_EQ(found[0].reason, "holds the plugin 'zipf', not 'even'");
}

TEST_F(Discovery, PluginThatExistsButFailsIsToldNotReplaced) {
  const std::string own = add("own", "zipf", "major = 3");
  add("r/zipf", "zipf");
  Registry registry({{{"zipf", own}}, {root_ + "/r"}});
  const auto loaded = registry.load("zipf");
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.status().exit_code(), 3);
  EXPECT_EQ(loaded.status().to_string(), "plugin 'zipf' in " + own +
                                             " cannot be used: needs plugin ABI major 3, this "
                                             "program has 1");
}

TEST_F(Discovery, UnknownIdListsTheRejectedAndWhy) {
  add("r/zipf", "zipf");
  add("r/old", "old", "major = 2");
  Registry registry({{}, {root_ + "/r"}});
  const auto loaded = registry.load("zpif");
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.status().to_string(),
            "no plugin 'zpif'; did you mean 'zipf'?\n  searched: " + root_ + "/r\n  rejected: " +
                root_ + "/r/old: needs plugin ABI major 2, this program has 1");
}

}  // namespace
}  // namespace prism::plugin
