// SPDX-License-Identifier: Apache-2.0
// Every plugin that was built exports its entry and nothing else; its companions export what the
// manifest says; Python files lie beside it.
#include <array>
#include <cstdio>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include "core/plugin/discovery.hpp"

namespace prism::plugin {
namespace {

/// Names of the symbols that a library defines for others.
std::set<std::string> exports_of(const std::string& library) {
  const std::string command = "nm -D --defined-only --format=posix '" + library + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> buffer{};
  while (pipe && fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr) {
    text += buffer.data();
  }
  std::set<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    names.insert(line.substr(0, line.find(' ')));
  }
  return names;
}

TEST(Exports, ExactlyTheEntry) {
  const std::set<std::string> without_entry = {"no_entry", "entry_in_dependency"};
  const std::string built = PRISM_BINARY_DIR "/lib/prism/plugins/abi-1";
  size_t checked = 0;
  for (const Candidate& candidate : discover({{}, {built, PRISM_FIXTURE_ROOT}})) {
    if (candidate.state != State::Ok) {
      std::printf("not checked: %s: %s\n", candidate.folder.c_str(), candidate.reason.c_str());
      continue;
    }
    const std::set<std::string> expected = without_entry.count(candidate.id) != 0
                                               ? std::set<std::string>{}
                                               : std::set<std::string>{"prism_plugin_v1"};
    EXPECT_EQ(exports_of(candidate.library()), expected) << candidate.library();
    for (const Companion& companion : candidate.manifest.companions) {
      const std::set<std::string> exported = exports_of(candidate.folder + "/" + companion.file);
      for (const std::string& symbol : companion.exports) {
        EXPECT_EQ(exported.count(symbol), 1U) << companion.file << " lacks " << symbol;
      }
    }
    ++checked;
  }
  std::printf("checked %zu plugins\n", checked);
  EXPECT_GE(checked, 18U);
}

TEST(Exports, GeneratedManifestSaysEverything) {
  const auto manifest = read_manifest(PRISM_FIXTURE_ROOT "/good");
  ASSERT_TRUE(manifest.ok()) << manifest.status().to_string();
  EXPECT_EQ(manifest->id, "good");
  EXPECT_EQ(manifest->version, "0.1.0");
  EXPECT_EQ(manifest->library, "libprism_good.so");
  EXPECT_EQ(manifest->license, "Apache-2.0");
  EXPECT_EQ(manifest->abi_major, 1U);
  const std::vector<std::string> both = {"prism.launcher/1", "prism.runtime/1"};
  EXPECT_EQ(manifest->interfaces, both);
  EXPECT_EQ(manifest->drafts, both);
  ASSERT_EQ(manifest->companions.size(), 2U);
  EXPECT_EQ(manifest->companions[0].file, "libprism_fixture_companion.so");
  EXPECT_EQ(manifest->companions[0].exports,
            (std::vector<std::string>{"first_export", "second_export"}));
  EXPECT_EQ(manifest->companions[1].file, "prism_fixture_helper");
  EXPECT_TRUE(manifest->companions[1].exports.empty());
  EXPECT_EQ(manifest->requirements.at("weather"), ">= 20 C");
  EXPECT_EQ(manifest->compiler, PRISM_TEST_COMPILER);
}

TEST(Exports, PythonFilesAreBesideThePlugin) {
  const std::filesystem::path python = PRISM_FIXTURE_ROOT "/good/python";
  EXPECT_TRUE(std::filesystem::is_regular_file(python / "shim/__init__.py"));
}

}  // namespace
}  // namespace prism::plugin
