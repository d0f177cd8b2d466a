// SPDX-License-Identifier: Apache-2.0
// What the registry makes of real libraries, good ones and ones that are wrong in one way each.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <string>

#include "core/base/log.hpp"
#include "core/plugin/library.hpp"
#include "core/plugin/registry.hpp"

namespace prism::plugin {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kRoot = PRISM_FIXTURE_ROOT;

SearchPath fixtures() {
  return {{}, {kRoot}};
}

std::string slurp(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A folder of the test's own, gone at its end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = testing::TempDir() + "prism-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// What loading says; "" when it succeeds.
std::string message_of(std::string_view id) {
  Registry registry(fixtures());
  const auto loaded = registry.load(id);
  if (loaded.ok()) {
    return {};
  }
  EXPECT_EQ(loaded.status().exit_code(), 3);
  return loaded.status().to_string();
}

TEST(Loading, GoodPlugin) {
  Registry registry(fixtures());
  const auto loaded = registry.load("good");
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  EXPECT_EQ((*loaded)->name(), "plugin 'good' (libprism_good.so 0.1.0)");
  EXPECT_NE((*loaded)->interface("prism.launcher/1"), nullptr);
  EXPECT_NE((*loaded)->interface("prism.runtime/1"), nullptr);
  EXPECT_EQ((*loaded)->interface("prism.router/1"), nullptr);
  const auto again = registry.load("good");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, *loaded);
}

TEST(Loading, PlainC) {
  Registry registry(fixtures());
  const auto loaded = registry.load("good_c");
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  const void* answer = (*loaded)->interface("com.example.answer/1");
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(*static_cast<const int*>(answer), 42);
}

TEST(Loading, InitInOrderDeinitOnceInReverseThroughTheLog) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/log";
  ASSERT_TRUE(log::open_file(path));
  {
    Registry registry(fixtures());
    ASSERT_TRUE(registry.load("good").ok());
    ASSERT_TRUE(registry.load("good_c").ok());
    registry.shutdown();
    registry.shutdown();
  }
  log::open_file("");
  const std::string text = slurp(path);
  const size_t a = text.find("good: init");
  const size_t b = text.find("good_c: init");
  const size_t c = text.find("good_c: deinit");
  const size_t d = text.find("good: deinit");
  ASSERT_NE(d, std::string::npos) << text;
  EXPECT_TRUE(a < b && b < c && c < d) << text;
  EXPECT_EQ(text.find("good: deinit", d + 1), std::string::npos) << text;
}

TEST(Loading, NoEntry) {
  EXPECT_EQ(message_of("no_entry"),
            "plugin 'no_entry' (libprism_no_entry.so 0.1.0) cannot be loaded: "
            "libprism_no_entry.so does not export prism_plugin_v1, so it is no plugin for plugin "
            "ABI 1; build it with prism_add_plugin\n  it was built with " PRISM_TEST_COMPILER);
}

TEST(Loading, WrongMajorNamesBothNumbers) {
  EXPECT_THAT(message_of("wrong_major"),
              HasSubstr("plugin 'wrong_major' (libprism_wrong_major.so 0.1.0) cannot be used: it "
                        "was built for plugin ABI 2.5, this program has 1.0"));
}

TEST(Loading, NewerMinorIsFine) {
  EXPECT_EQ(message_of("newer_minor"), "");
}

TEST(Loading, DraftsNeedTheSameMinor) {
  EXPECT_THAT(message_of("newer_draft"),
              HasSubstr("it uses draft interfaces and was built for plugin ABI 1.1, this program "
                        "has 1.0"));
}

TEST(Loading, SmallTable) {
  EXPECT_THAT(message_of("small_struct"),
              HasSubstr("cannot be used: its table has 24 bytes, plugin ABI 1.0 has 72"));
}

TEST(Loading, NoTable) {
  EXPECT_THAT(message_of("null_table"), HasSubstr("prism_plugin_v1 returned no table"));
}

TEST(Loading, InitFailsWithItsOwnWordsMadeValidText) {
  EXPECT_EQ(message_of("init_fails"),
            "plugin 'init_fails' (libprism_init_fails.so 0.1.0): init(): the licence server is on "
            "fire ?");
}

TEST(Loading, InitFailsWithoutWords) {
  EXPECT_THAT(message_of("init_fails_silently"),
              HasSubstr("init(): failed with status INTERNAL and no message"));
}

TEST(Loading, ExceptionInInitBecomesAMessageAndStartedPartsStop) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/log";
  ASSERT_TRUE(log::open_file(path));
  EXPECT_THAT(message_of("throws_in_init"), HasSubstr("init(): no good weather"));
  log::open_file("");
  EXPECT_THAT(slurp(path), AllOf(HasSubstr("first part started"), HasSubstr("first part stopped"),
                                 Not(HasSubstr("thrower stopped"))));
}

TEST(Loading, PluginsOfAnotherStandardLibrary) {
  for (const char* id : {"uses_old_cxx11_abi", "static_libstdcxx"}) {
    EXPECT_THAT(message_of(id), HasSubstr(std::string("plugin '") + id + "' (libprism_" + id +
                                          ".so 0.1.0): init(): no good weather"));
  }
}

TEST(Loading, OfTwoWithOneIdTheFirstIsLoadedAndTheOtherNamed) {
  const TemporaryFolder root;
  std::filesystem::copy(kRoot + "/good", root.path() + "/another_good",
                        std::filesystem::copy_options::recursive);
  Registry registry({{}, {root.path(), kRoot}});
  const auto loaded = registry.load("good");
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  EXPECT_EQ((*loaded)->folder(), root.path() + "/another_good");
  size_t shadowed = 0;
  for (const Candidate& candidate : registry.list()) {
    if (candidate.folder == kRoot + "/good") {
      EXPECT_EQ(candidate.state, State::Shadowed);
      EXPECT_EQ(candidate.reason, "found first in " + root.path() + "/another_good");
      ++shadowed;
    }
  }
  EXPECT_EQ(shadowed, 1U);
}

TEST(Loading, PromisedInterfaceIsMissing) {
  EXPECT_THAT(message_of("null_interface"),
              HasSubstr("plugin 'null_interface' (libprism_null_interface.so 0.1.0) cannot be "
                        "used: it has no prism.launcher/1"));
}

TEST(Loading, InterfaceWithAHoleAndDeinitIsCalled) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/log";
  ASSERT_TRUE(log::open_file(path));
  EXPECT_THAT(message_of("half_interface"),
              HasSubstr("its prism.launcher/1 lacks the function spawn"));
  log::open_file("");
  EXPECT_THAT(slurp(path), HasSubstr("half_interface: ended"));
}

TEST(Loading, ManifestOfAnotherBuild) {
  EXPECT_THAT(message_of("manifest_mismatch"),
              HasSubstr("its manifest says version 0.1.0, its library 0.9.9"));
}

TEST(Loading, LostDependencyIsNamedWithWhoNeedsIt) {
  EXPECT_THAT(message_of("missing_dependency"),
              AllOf(HasSubstr("plugin 'missing_dependency' (libprism_missing_dependency.so 0.1.0) "
                              "cannot be loaded: libprism_missing_dependency.so needs the library "
                              "libprism_lost_planner.so, which was not found"),
                    HasSubstr("it requires weather >= 20 C")));
}

TEST(Loading, LostDependencyOfADependency) {
  EXPECT_THAT(message_of("missing_below"),
              HasSubstr("libprism_middle.so needs the library libprism_lost_planner.so"));
}

TEST(Loading, UndefinedSymbolIsFoundAtLoadEvenWhenLinkedLazily) {
  EXPECT_THAT(message_of("late_symbol"),
              HasSubstr("plugin 'late_symbol' (libprism_late_symbol.so 0.1.0) cannot be loaded: "
                        "libprism_late_symbol.so needs the symbol 'planner::plan_tokens(long)'"));
}

TEST(Loading, EntryOfADependencyIsNoEntry) {
  EXPECT_THAT(message_of("entry_in_dependency"),
              HasSubstr("the entry prism_plugin_v1 comes from libprism_foreign_entry.so, not from "
                        "libprism_entry_in_dependency.so"));
}

TEST(Loading, LibraryThatIsNoElfFile) {
  const TemporaryFolder root;
  const std::string folder = root.path() + "/text";
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/plugin.toml")
      << "manifest = 1\n[plugin]\nid = \"text\"\nversion = \"0.1.0\"\nlibrary = \"libtext.so\"\n"
         "[abi]\nmajor = 1\n[provides]\ninterfaces = [\"prism.router/1\"]\n";
  for (const char* content :
       {"#!/bin/sh\necho this is a shell script, not a library, and long\n", "",
        "\x7f"
        "ELF"}) {
    std::ofstream(folder + "/libtext.so") << content;
    Registry registry({{}, {root.path()}});
    const auto loaded = registry.load("text");
    ASSERT_FALSE(loaded.ok());
    EXPECT_EQ(loaded.status().exit_code(), 3);
    EXPECT_THAT(loaded.status().to_string(),
                HasSubstr("plugin 'text' (libtext.so 0.1.0) cannot be loaded: libtext.so is no "
                          "shared library of this machine"));
  }
}

TEST(Loading, OnlyAbsolutePaths) {
  const auto opened = open_plugin_library("libprism_good.so");
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(opened.status().to_string(), HasSubstr("no absolute path"));
}

TEST(Loading, UnknownIdListsFoldersAndSuggests) {
  Registry registry({{}, {kRoot, "/nowhere/plugins"}});
  const auto loaded = registry.load("goood");
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.status().exit_code(), 3);
  EXPECT_EQ(loaded.status().to_string(),
            "no plugin 'goood'; did you mean 'good'?\n  searched: " + kRoot +
                "\n  searched: /nowhere/plugins (No such file or directory)");
}

TEST(Loading, ListLoadsNothing) {
  const TemporaryFolder root;
  std::filesystem::copy(kRoot + "/good", root.path() + "/good",
                        std::filesystem::copy_options::recursive);
  const auto mapped = [&] {
    return slurp("/proc/self/maps").find(root.path()) != std::string::npos;
  };
  Registry registry({{}, {root.path()}});
  const auto listed = registry.list();
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].state, State::Ok) << listed[0].reason;
  EXPECT_FALSE(mapped());
  ASSERT_TRUE(registry.load("good").ok());
  EXPECT_TRUE(mapped());  // the check above can fail
}

TEST(Loading, EveryFixtureIsInOrderByItsManifest) {
  for (const Candidate& candidate : Registry(fixtures()).list()) {
    EXPECT_EQ(candidate.state, State::Ok) << candidate.id << ": " << candidate.reason;
  }
}

}  // namespace
}  // namespace prism::plugin
