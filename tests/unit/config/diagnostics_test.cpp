// SPDX-License-Identifier: Apache-2.0
#include "core/config/diagnostics.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>

namespace prism::config {
namespace {

using testing::HasSubstr;

Diagnostic at(uint32_t line, uint32_t column, uint32_t end_column, std::string message) {
  Diagnostic d;
  d.code = ErrorCode::Range;
  d.span = {{line, column}, {line, end_column}};
  d.message = std::move(message);
  return d;
}

Diagnostics of(const std::string& text) {
  return Diagnostics(std::make_shared<const Source>("exp.toml", text));
}

TEST(Diagnostics, TextHasPlaceLineAndCaret) {
  Diagnostics diagnostics = of("a = 1\n\n\tna\xc3\xafve\t= 22 # c\r\n");
  Diagnostic d = at(3, 9, 11, "too large");
  d.hint = "take less";
  d.notes.push_back({{{1, 5}, {1, 6}}, "limit set here"});
  diagnostics.add(d);
  EXPECT_EQ(diagnostics.text(),
            "exp.toml:3:9: error: too large; take less\n"
            " 3 | \tna\xc3\xafve\t= 22 # c\n"
            "   | \t     \t ^~\n"
            "exp.toml:1:5: note: limit set here\n"
            " 1 | a = 1\n"
            "   |     ^\n");
}

TEST(Diagnostics, SortsAndKeepsTheFirstTwenty) {
  Diagnostics diagnostics = of(std::string(200, '\n'));
  for (uint32_t line = 100; line > 0; --line) {
    diagnostics.add(at(line, 1, 2, "e" + std::to_string(line)));
  }
  EXPECT_EQ(diagnostics.total(), 100u);
  ASSERT_EQ(diagnostics.shown().size(), 20u);
  EXPECT_EQ(diagnostics.shown().front().message, "e1");
  EXPECT_EQ(diagnostics.shown().back().message, "e20");
  EXPECT_THAT(diagnostics.text(), testing::EndsWith("and 80 more errors\n"));
  EXPECT_FALSE(diagnostics.wants({21, 1}));
  EXPECT_TRUE(diagnostics.wants({19, 1}));
}

TEST(Diagnostics, ExactlyTwentyHaveNoMore) {
  Diagnostics diagnostics = of(std::string(30, '\n'));
  for (uint32_t line = 1; line <= 20; ++line) {
    diagnostics.add(at(line, 1, 2, "e"));
  }
  EXPECT_THAT(diagnostics.text(), testing::Not(HasSubstr("more")));
}

TEST(Diagnostics, StatusIsAConfigurationError) {
  Diagnostics diagnostics = of("a = 1\n");
  EXPECT_TRUE(diagnostics.status().ok());
  EXPECT_EQ(diagnostics.text(), "");
  diagnostics.add(at(1, 1, 2, "wrong"));
  EXPECT_EQ(diagnostics.status().exit_code(), 2);
  EXPECT_EQ(diagnostics.status().domain(), Domain::Config);
  EXPECT_EQ(diagnostics.status().message(), "exp.toml:1:1: error: wrong\n 1 | a = 1\n   | ^");
}

TEST(Diagnostics, Json) {
  Diagnostics diagnostics(std::make_shared<const Source>("dir/a\"\xff.toml", "a = 1\n"));
  EXPECT_EQ(diagnostics.json(), "{\"total\": 0, \"diagnostics\": []}");
  Diagnostic d = at(1, 5, 6, "line\nbreak");
  d.notes.push_back({{}, "note", Origin::CommandLine});
  diagnostics.add(d);
  Diagnostic whole;
  whole.code = ErrorCode::MissingTable;
  whole.message = "m";
  whole.hint = "h";
  diagnostics.add(whole);
  EXPECT_EQ(diagnostics.json(),
            R"({"total": 2, "diagnostics": [)"
            R"({"file": "dir/a\"?.toml", "line": null, "column": null, "end": null, )"
            R"("code": "E-CFG-MISSING-TABLE", "message": "m", "hint": "h", "notes": []}, )"
            R"({"file": "dir/a\"?.toml", "line": 1, "column": 5, "end": {"line": 1, "column": 6}, )"
            R"("code": "E-CFG-RANGE", "message": "line\u000abreak", "hint": null, "notes": [)"
            R"({"file": null, "line": null, "column": null, "end": null, "message": "note"}]}]})");
}

TEST(Diagnostics, LongLinesAreCroppedAroundTheCaret) {
  std::string line = "k = \"" + std::string(1'000'000, 'x') + "\"";
  Diagnostics diagnostics = of(line);
  diagnostics.add(at(1, 500'000, 1'000'000, "here"));
  EXPECT_LT(diagnostics.text().size(), 500u);
  EXPECT_THAT(diagnostics.text(), HasSubstr("^~~~"));
}

TEST(Diagnostics, ControlCharactersNeverReachTheTerminal) {
  Diagnostics diagnostics(
      std::make_shared<const Source>("a\x1b[31m.toml", "k = \x1b[31m\x07\xc2\x9b\n"));
  diagnostics.add(at(1, 1, 2, "m"));
  EXPECT_EQ(diagnostics.text().find('\x1b'), std::string::npos);
  EXPECT_EQ(diagnostics.text().find('\x07'), std::string::npos);
  EXPECT_EQ(diagnostics.text().find("\xc2\x9b"), std::string::npos);
}

TEST(Diagnostics, EveryCodeIsDocumented) {
  std::ifstream in(std::string(PRISM_SOURCE_DIR) + "/docs/errors.md");
  std::string page(std::istreambuf_iterator<char>(in), {});
  for (std::string_view code : kErrorCodeNames) {
    EXPECT_THAT(page, HasSubstr("`" + std::string(code) + "`"));
  }
  // And nothing is documented that does not exist.
  for (size_t i = page.find("`E-CFG-"); i != std::string::npos; i = page.find("`E-CFG-", i + 1)) {
    std::string code = page.substr(i + 1, page.find('`', i + 1) - i - 1);
    EXPECT_THAT(kErrorCodeNames, testing::Contains(code));
  }
}

}  // namespace
}  // namespace prism::config
