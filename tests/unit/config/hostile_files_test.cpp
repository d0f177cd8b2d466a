// SPDX-License-Identifier: Apache-2.0
// Files that are large, deep or broken: a clean answer, whatever is in them.
#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <random>

#include "core/base/text.hpp"
#include "core/config/experiment.hpp"
#include "core/config/key_scan.hpp"
#include "tests/unit/config/temporary_files.hpp"

namespace prism::config {
namespace {

class HostileFiles : public TemporaryFiles {
 protected:
  Diagnostics check(const std::string& text) { return check_file(write("exp.toml", text)); }
};

std::string repeat(const std::string& text, size_t times) {
  std::string out;
  out.reserve(text.size() * times);
  for (size_t i = 0; i < times; ++i) {
    out += text;
  }
  return out;
}

TEST_F(HostileFiles, TenMegabytesOfKeysAreTwentyErrorsAndACount) {
  std::string text = kHead + "[parallel]\nworld_size = 1\n[time]\n";
  size_t keys = 0;
  for (; text.size() < 10'000'000; ++keys) {
    text += "k" + std::to_string(keys) + " = 1\n";
  }
  Diagnostics d = check(text);
  EXPECT_EQ(d.total(), keys);
  EXPECT_LT(d.text().size(), 10'000u);
}

TEST_F(HostileFiles, TenMegabytesOnOneLine) {
  // Every element has a placeholder that does not exist: places in the line are looked for only
  // where they are shown.
  std::string text = kHead + "args = [" + repeat("\"{nothing}\", ", 770'000) + "]\n";
  Diagnostics d = check(text + "[parallel]\nworld_size = 1\n");
  EXPECT_EQ(d.total(), 770'000u);
  EXPECT_LT(d.text().size(), 20'000u);
}

TEST_F(HostileFiles, TenThousandTables) {
  std::string text = kHead + "[parallel]\nworld_size = 1\n";
  for (int i = 0; i < 10'000; ++i) {
    text += "[t" + std::to_string(i) + ".a.b.c]\n";
  }
  EXPECT_EQ(check(text).total(), 10'000u);
}

TEST_F(HostileFiles, DeepNestingIsOneErrorHoweverItIsWritten) {
  constexpr size_t kLevels = 100'000;
  for (const std::string& text :
       {"[" + repeat("a.", kLevels) + "a]\n", repeat("a.", kLevels) + "a = 1\n",
        "x = " + repeat("[", kLevels) + repeat("]", kLevels) + "\n",
        "x = " + repeat("{ a = ", kLevels) + "1" + repeat(" }", kLevels) + "\n",
        "x = " + repeat("{ a = [", kLevels), repeat("[", kLevels),
        "[a]\n\"b\" . 'c'." + repeat("a . ", kLevels) + "z = 1\n",
        "# \"\"\"\n" + repeat("\"a\".", kLevels) + "z = 1\n"}) {
    Diagnostics d = check(text);
    EXPECT_EQ(d.total(), 1u);
    EXPECT_TRUE(d.shown()[0].code == ErrorCode::Depth || d.shown()[0].code == ErrorCode::Syntax);
  }
}

TEST_F(HostileFiles, TheDepthLimitCountsHeaderKeyAndBracketsTogether) {
  auto too_deep = [](const std::string& text) {
    return find_too_deep(Source("t", text)).has_value();
  };
  std::string header = "[" + repeat("h.", 29) + "h]\n";  // 30
  std::string key = repeat("k.", 29) + "k = ";           // 30
  EXPECT_FALSE(too_deep(header + key + "1\n"));
  EXPECT_FALSE(too_deep(header + key + "[[[[]]]]\n"));
  EXPECT_TRUE(too_deep(header + key + "[[[[[]]]]]\n"));
  EXPECT_FALSE(too_deep(header + key + "{ a.b.c = 1 }\n"));
  EXPECT_TRUE(too_deep(header + key + "{ a.b.c.d = 1 }\n"));
  EXPECT_FALSE(too_deep(header + key + "[{}, {}, {}, [], [], [], [[]]]\n"));
  // Brackets and dots inside strings and comments are none.
  EXPECT_FALSE(
      too_deep(header + key + "[\"[[[[[\", '[[[[', \"\"\"[[[\n[[[\\\"\"\"\"\"] # [[[[[[\n"));
}

TEST_F(HostileFiles, WhereSomethingWasDefinedFirstIsFoundAmongLookAlikes) {
  auto first = [&](const std::string& text) {
    Diagnostics d = check(text);
    EXPECT_EQ(d.shown().at(0).code, ErrorCode::Redefined) << d.text();
    return d.shown()[0].notes.empty() ? Position{} : d.shown()[0].notes[0].span.begin;
  };
  EXPECT_EQ(first("a = '''\n[b]\n'''\n# [b]\nc = [\"[b]\",\n  \"[b]\"]\n[b]\nx = 1\n[b]\n"),
            (Position{7, 1}));
  EXPECT_EQ(first("[[a]]\nx = 1\n[[a]]\nx = 2\ny = 3\nx = 4\n"), (Position{4, 1}));
  EXPECT_EQ(first("[[a]]\n[a.b]\n[[a]]\n[a.b]\n[a.b]\n"), (Position{4, 1}));
  EXPECT_EQ(first("v = [{ x = 1 }, { x = 2, y = 1, y = 2 }]\n"), (Position{1, 26}));
  EXPECT_EQ(first("\"a\" = 1\na = 2\n"), (Position{1, 1}));
  EXPECT_EQ(first("[a]\nb.c = 1\n[x]\n[a.b]\n"), (Position{2, 1}));
  EXPECT_EQ(first("a.b.c = 1\na.b = 2\n"), (Position{1, 1}));
}

TEST_F(HostileFiles, LettersOutsideOfQuotesAreErrorsAndInsideAreText) {
  // toml++ tests them for being spaces, where it must not go by tables that leave letters out.
  for (const char* letter : {"\xc3\xa9", "\xd0\x96", "\xe3\x81\x82", "\xef\xbc\xa1", "\xc2\xa0"}) {
    for (std::string before : {"x = ", "x = 1", "x = tru", "[a]", "x", "x = [1, "}) {
      EXPECT_EQ(check(before + letter + "\n").shown().at(0).code, ErrorCode::Syntax);
    }
    Diagnostics d = check(kHead + "args = [\"\"\"a\\\n  " + letter + "\"\"\"] # " + letter +
                          "\n[parallel]\nworld_size = 1\n");
    EXPECT_EQ(d.text(), "");
  }
}

TEST_F(HostileFiles, BrokenFilesNeverCrash) {
  // Random damage to good and bad files; with a fixed seed, so that a failure comes again.
  std::vector<std::string> seeds;
  auto folder = std::filesystem::path(PRISM_SOURCE_DIR) / "tests/golden/config";
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".toml") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  ASSERT_GT(seeds.size(), 30u);

  constexpr std::string_view kBytes = "[]{}\"'.=,#\\\n\r\t -_0129abz\x80\xff\0";
  std::mt19937 random(20);
  auto below = [&](size_t limit) { return limit == 0 ? 0 : random() % limit; };
  for (int i = 0; i < 4'000; ++i) {
    std::string text = seeds[below(seeds.size())];
    for (size_t k = 0, edits = 1 + below(8); k < edits; ++k) {
      size_t at = below(text.size() + 1);
      switch (below(4)) {
        case 0:
          text.erase(at, below(20));
          break;
        case 1:
          text.insert(at, 1, kBytes[below(kBytes.size())]);
          break;
        case 2:
          text.insert(at, text.substr(below(text.size() + 1), below(60)));
          break;
        default:
          text.insert(at, repeat(std::string(1, kBytes[below(kBytes.size())]), below(100)));
      }
    }
    Diagnostics d = check(text);
    auto lines = static_cast<uint32_t>(std::count(text.begin(), text.end(), '\n') + 1);
    for (const Diagnostic& diagnostic : d.shown()) {
      ASSERT_LE(diagnostic.span.begin.line, lines) << text;
      ASSERT_FALSE(diagnostic.message.empty());
    }
    ASSERT_EQ(find_invalid_utf8(d.text()), std::string::npos) << text;
    ASSERT_FALSE(d.json().empty());
  }
}

}  // namespace
}  // namespace prism::config
