// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/kineto/scanner.hpp"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace prism::kineto {
namespace {

/// Hands out a text in pieces of at most `piece` bytes.
class Text final : public Source {
 public:
  explicit Text(std::string text, size_t piece = 1 << 20) : text_(std::move(text)), piece_(piece) {}
  size_t read(char* to, size_t size) override {
    const size_t got = std::min({size, piece_, text_.size() - at_});
    std::memcpy(to, text_.data() + at_, got);
    at_ += got;
    return got;
  }

 private:
  const std::string text_;
  const size_t piece_;
  size_t at_ = 0;
};

std::vector<std::string> events_of(const std::string& text, size_t piece = 1 << 20) {
  Text source(text, piece);
  Scanner scanner(source);
  std::vector<std::string> events;
  for (Scanner::Item item; scanner.next(item);) {
    EXPECT_EQ(text.substr(item.at, item.text.size()), item.text);
    events.push_back(std::string(item.key) + std::string(item.text));
  }
  return events;
}

/// Place and complaint.
std::string complaint(const std::string& text) {
  try {
    events_of(text);
  } catch (const Malformed& malformed) {
    return std::to_string(malformed.at()) + (malformed.cut() ? " cut: " : ": ") + malformed.what();
  }
  return "none";
}

using Events = std::vector<std::string>;

TEST(Scanner, CutsEventsWhateverStandsInTheirStrings) {
  const Events events = {R"({"a": "}{][\"\\"})", R"({})", R"({"b": {"c": [1, {"d": "\\\\"}]}})",
                         R"({"e": "\\\"}"})"};
  const std::string text =
      "{\"x\": [1, {\"traceEvents\": 2}], \"y\": \"]}\\\"\", \"traceEvents\": [" + events[0] + "," +
      events[1] + " ,\n" + events[2] + "," + events[3] + "\n], \"z\": 1}\n";
  EXPECT_EQ(events_of(text), events);
  for (const size_t piece : {1U, 2U, 3U, 7U, 64U, 65U}) {
    EXPECT_EQ(events_of(text, piece), events) << piece;
  }
}

TEST(Scanner, TakesAnArrayOfEvents) {
  EXPECT_EQ(events_of("\xef\xbb\xbf [{}, {\"a\": 1},]"), (Events{"{}", "{\"a\": 1}"}));
}

TEST(Scanner, GivesTheMembersThatMatter) {
  EXPECT_EQ(events_of(R"({"distributedInfo": {"rank": 1}, "baseTimeNanoseconds": 17, "n": null})"),
            (Events{"distributedInfo{\"rank\": 1}", "baseTimeNanoseconds17"}));
}

TEST(Scanner, AgreesWithASimpleOneOnRandomEvents) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::string alphabet = R"(ab\"{}[],: Nn)";
  for (int round = 0; round < 200; ++round) {
    Events events;
    std::string text = "[";
    for (int i = 0; i < 20; ++i) {
      std::string value;  // of a string: escaped
      for (size_t length = random() % 150; length > 0; --length) {
        const char c = alphabet[random() % alphabet.size()];
        value += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
      }
      events.push_back("{\"" + value + "\": [[\"" + value + "\"], {}]}");
      text += (i > 0 ? "," : "") + events.back();
    }
    EXPECT_EQ(events_of(text + "]", 1 + random() % 300), events);
  }
}

TEST(Scanner, CountsWordsThatJsonDoesNotHave) {
  const std::string text =
      R"([{"a": NaN, "b": -Infinity, "c": N/A, "d": nan, "e": inf, "N": "NaN inf", "f": null,
         "g": [null,-inf], "h": false, "i": true}])";
  for (const size_t piece : {1U, 5U, 64U, 1000U}) {
    Text source(text, piece);
    Scanner scanner(source);
    for (Scanner::Item item; scanner.next(item);) {
    }
    EXPECT_EQ(scanner.foreign_words(), 6U) << piece;
  }
}

TEST(Scanner, SaysWhereAFileIsCut) {
  EXPECT_EQ(complaint(""), "0 cut: the file is empty");
  const std::string whole = R"({"a": "x", "traceEvents": [{"b": "c"}, {"d": 1}], "e": {}})";
  for (size_t size = 1; size < whole.size(); ++size) {
    EXPECT_EQ(complaint(whole.substr(0, size)),
              std::to_string(size) + " cut: the file ends in the middle of the trace");
  }
  EXPECT_EQ(complaint(whole), "none");
}

TEST(Scanner, RefusesWhatIsNoTrace) {
  EXPECT_EQ(complaint("hello").substr(0, 19), "0: expected a trace");
  EXPECT_EQ(complaint("[1]"), "1: expected an event, a JSON object");
  EXPECT_EQ(complaint("{1"), "1: expected the name of a member of the trace");
  EXPECT_EQ(complaint("{\"a\" 1}"), "5: expected ':' behind the name 'a'");
  EXPECT_EQ(complaint("{\"a\": }"), "6: expected a value");
  EXPECT_EQ(complaint("[] []"), "3: expected nothing behind the end of the trace");
}

TEST(Scanner, RefusesDeepNestingAndHugeEvents) {
  const std::string deep = "[{\"a\": " + std::string(2'000'000, '[');
  EXPECT_EQ(complaint(deep), "518: brackets are nested more than 512 deep");
  const std::string huge = "[{\"a\": \"" + std::string(5'000'000, 'x') + "\"}]";
  EXPECT_EQ(complaint(huge), "1: an event of more than 4194304 bytes begins");
  // What does not matter may be of any size.
  EXPECT_EQ(events_of("{\"a\": \"" + std::string(9'000'000, 'x') + "\", \"b\": [\"" +
                      std::string(9'000'000, 'x') + "\"], \"traceEvents\": [{}]}"),
            Events{"{}"});
}

}  // namespace
}  // namespace prism::kineto
