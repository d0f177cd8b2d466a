// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/manifest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <string>

namespace prism::plugin {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kGood = R"(manifest = 1
[plugin]
id = "zipf"
version = "0.3.1"
library = "libprism_zipf.so"
summary = "Zipf-distributed MoE mock router"
license = "Apache-2.0"
[abi]
major = 1
min_host_minor = 2
drafts = ["prism.collective/1"]
[provides]
interfaces = ["prism.router/1", "prism.collective/1"]
[requires]
cuda = ">=12"
[build]
compiler = "g++ 12.2"
std = "c++20"
cxx11_abi = true
sanitizers = ["address"]
[[companion]]
file = "libagent.so"
exports = ["start", "stop"]
[[companion]]
file = "helper"
)";

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string error_of(const std::string& text) {
  const auto manifest = parse_manifest(text, "plugin.toml");
  if (manifest.ok()) {
    return "no error";
  }
  EXPECT_EQ(manifest.status().exit_code(), 3);
  return manifest.status().to_string();
}

TEST(Manifest, ReadsEverything) {
  const auto m = parse_manifest(kGood, "plugin.toml");
  ASSERT_TRUE(m.ok()) << m.status().to_string();
  EXPECT_EQ(m->id, "zipf");
  EXPECT_EQ(m->version, "0.3.1");
  EXPECT_EQ(m->library, "libprism_zipf.so");
  EXPECT_EQ(m->summary, "Zipf-distributed MoE mock router");
  EXPECT_EQ(m->abi_major, 1U);
  EXPECT_EQ(m->min_host_minor, 2U);
  EXPECT_EQ(m->drafts, std::vector<std::string>{"prism.collective/1"});
  EXPECT_EQ(m->interfaces.size(), 2U);
  EXPECT_EQ(m->requirements.at("cuda"), ">=12");
  EXPECT_EQ(m->compiler, "g++ 12.2");
  EXPECT_EQ(m->sanitizers, std::vector<std::string>{"address"});
  ASSERT_EQ(m->companions.size(), 2U);
  EXPECT_EQ(m->companions[0].exports.size(), 2U);
  EXPECT_EQ(m->companions[1].file, "helper");
}

TEST(Manifest, UnknownKeysAreALaterSdks) {
  EXPECT_EQ(error_of(replaced("[provides]", "[later]\nx = 1\n[provides]\ncolour = \"red\"")),
            "no error");
}

TEST(Manifest, ErrorsNamePlaceAndExpectation) {
  EXPECT_EQ(error_of(replaced("\"zipf\"", "\"Zipf\"")),
            "plugin.toml:3:6: 'id' is no plugin id: use a-z, 0-9 and _, or reverse DNS");
  EXPECT_EQ(error_of(replaced("\"0.3.1\"", "\"0.3\"")),
            "plugin.toml:4:11: 'version' is no semantic version, like \"0.1.0\"");
  EXPECT_EQ(error_of(replaced("\"libprism_zipf.so\"", "\"../evil.so\"")),
            "plugin.toml:5:11: 'library' must be a file name without folder");
  EXPECT_EQ(error_of(replaced("manifest = 1", "manifest = 2")),
            "plugin.toml:1:12: manifest revision 2; this program reads 1");
  EXPECT_EQ(error_of(replaced("major = 1", "major = \"1\"")),
            "plugin.toml:9:9: needs 'major', a whole number");
  EXPECT_EQ(error_of(replaced("major = 1", "major = -1")),
            "plugin.toml:9:9: 'major' is -1; it must be 0 to 65535");
  EXPECT_THAT(error_of(replaced("version = \"0.3.1\"", "version = \"0.3.1\\u001b[2J\"")),
              HasSubstr("has a control character in it"));
  EXPECT_EQ(error_of(replaced("version = \"0.3.1\"\n", "")),
            "plugin.toml:2:1: needs 'version', a text");
  EXPECT_EQ(error_of(replaced("[\"prism.router/1\", \"prism.collective/1\"]", "[]")),
            "plugin.toml:13:14: 'interfaces' must name at least one interface");
  EXPECT_THAT(error_of(replaced("[\"prism.router/1\", ", "[3, ")),
              HasSubstr("an entry of 'interfaces' must be text"));
  EXPECT_EQ(error_of(replaced("file = \"helper\"", "file = \"a/helper\"")),
            "plugin.toml:25:8: 'file' must be a file name without folder");
  EXPECT_EQ(error_of(replaced("[provides]\ninterfaces", "[provided]\ninterfaces")),
            "plugin.toml: the table [provides] is missing");
  EXPECT_THAT(error_of(replaced("manifest = 1\n", "")), HasSubstr("needs 'manifest'"));
}

TEST(Manifest, SyntaxErrorHasItsPlace) {
  EXPECT_THAT(error_of(replaced("id = \"zipf\"", "id = \"zipf")), StartsWith("plugin.toml:3:"));
  EXPECT_THAT(error_of(replaced("[abi]", "[plugin]")), StartsWith("plugin.toml:8:"));
}

TEST(Manifest, Ids) {
  EXPECT_TRUE(valid_id("zipf"));
  EXPECT_TRUE(valid_id("com.acme.tracer_2"));
  for (const char* bad : {"", "a", "Zipf", "2pf", "_zipf", "zip-f", "com..acme", "com.acme.", "a/b",
                          "an_id_of_more_than_32_characters_"}) {
    EXPECT_FALSE(valid_id(bad)) << bad;
  }
  EXPECT_TRUE(valid_id("a." + std::string(126, 'b')));
  EXPECT_FALSE(valid_id("a." + std::string(127, 'b')));
}

TEST(Manifest, VersionForms) {
  for (const char* good : {"1.0.0", "0.10.2-rc.1", "1.2.3+build-5", "1.2.3-a+b"}) {
    EXPECT_EQ(error_of(replaced("0.3.1", good)), "no error") << good;
  }
  for (const char* bad : {"", "1", "1.0", "v1.0.0", "1.0.0-", "1.0.0 beta", "1..0", "1.0.0.0"}) {
    EXPECT_NE(error_of(replaced("0.3.1", bad)), "no error") << bad;
  }
}

TEST(Manifest, SizesAreBounded) {
  EXPECT_THAT(error_of(kGood + std::string(kMaxManifestBytes, '\n')),
              HasSubstr("longer than 16384 bytes"));
  EXPECT_THAT(error_of(replaced("Zipf-distributed", std::string(1025, 'z'))),
              HasSubstr("'summary' is longer than 1024 bytes"));
  std::string many = "[";
  for (int i = 0; i < 257; ++i) {
    many += "\"a\",";
  }
  EXPECT_THAT(error_of(replaced("[\"start\", \"stop\"]", many + "]")),
              HasSubstr("'exports' must be a list of at most 256 texts"));
}

TEST(Manifest, DeepNestingIsSurvived) {
  std::string dotted = "a";
  while (dotted.size() < kMaxManifestBytes - 8) {
    dotted += ".a";
  }
  EXPECT_NE(error_of(dotted + " = 1"), "no error");
  EXPECT_NE(error_of("[" + dotted + "]"), "no error");
  EXPECT_NE(error_of("a = " + std::string(kMaxManifestBytes - 8, '[')), "no error");
  std::string inlined = "a = ";
  while (inlined.size() < kMaxManifestBytes - 8) {
    inlined += "{a=";
  }
  EXPECT_NE(error_of(inlined), "no error");
}

// Whatever the bytes are, there is an answer; what is accepted obeys the bounds.
TEST(Manifest, RandomDamageIsSurvived) {
  std::mt19937 random(1);
  size_t accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = kGood;
    const size_t changes = 1 + random() % 4;
    for (size_t c = 0; c < changes; ++c) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random() % 256);
          break;
        case 1:
          text.erase(at, 1 + random() % 20);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 30));
      }
      if (text.empty()) {
        text = "\n";
      }
    }
    const auto manifest = parse_manifest(text, "plugin.toml");
    if (manifest.ok()) {
      ++accepted;
      EXPECT_TRUE(valid_id(manifest->id));
      EXPECT_EQ(manifest->library.find('/'), std::string::npos);
      EXPECT_FALSE(manifest->interfaces.empty());
    } else {
      EXPECT_THAT(manifest.status().to_string(), StartsWith("plugin.toml"));
    }
  }
  EXPECT_GT(accepted, 0U);
  EXPECT_LT(accepted, 20'000U);
}

TEST(Manifest, FolderWithoutManifest) {
  const auto manifest = read_manifest("/nowhere");
  ASSERT_FALSE(manifest.ok());
  EXPECT_EQ(manifest.status().exit_code(), 3);
  EXPECT_THAT(manifest.status().to_string(), HasSubstr("/nowhere/plugin.toml"));
}

}  // namespace
}  // namespace prism::plugin
