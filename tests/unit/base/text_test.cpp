// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.hpp"

#include <gtest/gtest.h>
#include <string>
#include <string_view>

namespace prism {
namespace {

TEST(Text, ControlCharactersAndWhatIsNoUtf8AreReplaced) {
  EXPECT_EQ(printable("caf\xc3\xa9 \x1b[31m\n\t\x7f"), "caf\xc3\xa9 ?[31m???");
  EXPECT_EQ(printable("a\xff\xc3+b"), "a??+b");
  EXPECT_EQ(printable("\xc2\x9b[2J"), "?[2J");  // a control character of two bytes
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a?b");
}

TEST(Text, IsCutBetweenCharacters) {
  EXPECT_EQ(printable("abc", 3), "abc");
  EXPECT_EQ(printable("abcd", 3), "abc...");
  EXPECT_EQ(printable("ab\xc3\xa9"
                      "d",
                      3),
            "ab\xc3\xa9...");
}

TEST(Text, LinesStayLines) {
  EXPECT_EQ(printable_lines("a\n\tb\r\x1b\n"), "a\n\tb??\n");
  EXPECT_EQ(printable_lines(std::string(100'000, 'x')).size(), 100'000U);
}

TEST(Text, FindsWhatIsNoUtf8) {
  EXPECT_EQ(find_invalid_utf8("caf\xc3\xa9"), std::string_view::npos);
  EXPECT_EQ(find_invalid_utf8("caf\xe9"), 3U);
}

}  // namespace
}  // namespace prism
