// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/search_path.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <string>

namespace prism::plugin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Sets a variable, and puts the old value back when it is left.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) {
      old_ = old;
    }
    if (value == nullptr) {
      ::unsetenv(name);
    } else {
      ::setenv(name, value, 1);
    }
  }
  ~Variable() {
    if (old_) {
      ::setenv(name_, old_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(SearchPath, EntriesOfTheVariableThatAreNotAbsoluteAreLeftOutWithAWarning) {
  const Variable set("PRISM_PLUGIN_PATH", "/a:plugins::/b c:./x:");
  testing::internal::CaptureStderr();
  EXPECT_THAT(environment_roots(), ElementsAre("/a", "/b c"));
  const std::string warnings = testing::internal::GetCapturedStderr();
  EXPECT_THAT(warnings, HasSubstr("PRISM_PLUGIN_PATH: the entry 'plugins' is not searched"));
  EXPECT_THAT(warnings, HasSubstr("the entry '' is not searched"));
  EXPECT_THAT(warnings, HasSubstr("the entry './x' is not searched"));
  EXPECT_THAT(warnings, HasSubstr("the entry after its last ':' is empty"));
}

TEST(SearchPath, VariableThatIsNotSetOrEmptySaysNothing) {
  testing::internal::CaptureStderr();
  {
    const Variable none("PRISM_PLUGIN_PATH", nullptr);
    EXPECT_THAT(environment_roots(), IsEmpty());
  }
  {
    const Variable empty("PRISM_PLUGIN_PATH", "");
    EXPECT_THAT(environment_roots(), IsEmpty());
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(SearchPath, ThePluginsOfTheUser) {
  const Variable home("HOME", "/ada");
  {
    const Variable data("XDG_DATA_HOME", "/data");
    EXPECT_THAT(user_roots(), ElementsAre("/data/prism/plugins/abi-1"));
  }
  const Variable data("XDG_DATA_HOME", "relative");
  EXPECT_THAT(user_roots(), ElementsAre("/ada/.local/share/prism/plugins/abi-1"));
  const Variable nowhere("HOME", nullptr);
  EXPECT_THAT(user_roots(), IsEmpty());
}

TEST(SearchPath, TheProgramsOwnComeLast) {
  const Variable set("PRISM_PLUGIN_PATH", "/a");
  const Variable data("XDG_DATA_HOME", "/data");
  // This test is <build>/tests/NAME, and the program <build>/bin/prism.
  const std::vector<std::string> roots = usual_roots();
  ASSERT_GE(roots.size(), 3U);
  EXPECT_EQ(roots[0], "/a");
  EXPECT_EQ(roots[1], "/data/prism/plugins/abi-1");
  EXPECT_EQ(roots[2], PRISM_BINARY_DIR "/lib/prism/plugins/abi-1");
}

TEST(SearchPath, APluginByFolderLibraryOrManifest) {
  namespace fs = std::filesystem;
  std::string pattern = testing::TempDir() + "prism-XXXXXX";
  const std::string folder = mkdtemp(pattern.data());
  std::ofstream(folder + "/plugin.toml")
      << "manifest = 1\n[plugin]\nid = \"zipf\"\nversion = \"1.0.0\"\nlibrary = \"lib.so\"\n"
         "[abi]\nmajor = 1\n[provides]\ninterfaces = [\"prism.router/1\"]\n";
  std::ofstream(folder + "/lib.so") << "";
  std::ofstream(folder + "/other.so") << "";
  fs::create_directory(folder + "/bare");
  std::ofstream(folder + "/bare/lib.so") << "";

  for (const char* end : {"", "/", "/.", "/lib.so", "/plugin.toml", "/bare/.."}) {
    const auto found = plugin_folder(folder + end);
    ASSERT_TRUE(found.ok()) << end << ": " << found.status().to_string();
    EXPECT_EQ(*found, folder);
  }
  const auto message = [&](const char* end) {
    const auto found = plugin_folder(folder + end);
    EXPECT_FALSE(found.ok()) << end;
    EXPECT_EQ(found.status().exit_code(), 2);
    return found.status().to_string();
  };
  EXPECT_THAT(message("/nothing"), HasSubstr("no such file or folder"));
  EXPECT_THAT(message("/other.so"), HasSubstr("is not the library of the plugin in its folder, "
                                              "which is lib.so"));
  EXPECT_THAT(message("/bare/lib.so"), HasSubstr("there is no plugin.toml beside it"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace prism::plugin
