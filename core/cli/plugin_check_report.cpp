// SPDX-License-Identifier: Apache-2.0
#include "core/cli/plugin_check_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/cli/shell_word.hpp"

namespace prism::cli {
namespace {

using conformance::Outcome;
using conformance::TestResult;

constexpr Outcome kOutcomes[] = {Outcome::Pass, Outcome::Warn,  Outcome::Skip,   Outcome::Blocked,
                                 Outcome::Fail, Outcome::Crash, Outcome::Timeout};

size_t count_of(const std::vector<TestResult>& results, Outcome outcome) {
  size_t count = 0;
  for (const TestResult& result : results) {
    count += result.verdict.outcome == outcome ? 1 : 0;
  }
  return count;
}

/// Text inside an XML attribute; characters that XML has not become '?'.
std::string xml(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\n':
        safe += "&#10;";
        break;
      default:
        safe += static_cast<unsigned char>(c) < 0x20 && c != '\t' ? '?' : c;
    }
  }
  return safe;
}

std::string seconds(double ms) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f", ms / 1000);
  return text.data();
}

/// A reason may have several lines.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return printable(text, std::string::npos);
}

}  // namespace

std::string CheckedPlugin::repro(const std::string& test) const {
  std::string command = "prism plugin check " + shell_word(word) + " --only " + shell_word(test) +
                        " --seed " + std::to_string(seed);
  if (!files.options.empty()) {
    command += " --options " + shell_word(files.options);
  }
  for (const std::string& sample : files.samples) {
    command += " --sample " + shell_word(sample);
  }
  return command;
}

std::string as_line(const CheckedPlugin& plugin, const TestResult& result) {
  constexpr size_t kWidth = 8;
  std::string outcome(conformance::name_of(result.verdict.outcome));
  outcome.resize(kWidth, ' ');
  std::string line = outcome + result.test;
  if (!result.verdict.reason.empty()) {
    line += ": " + one_line(result.verdict.reason);
  }
  if (is_failure(result.verdict.outcome)) {
    line += "\n        again: " + plugin.repro(result.test);
  }
  return line + "\n";
}

std::string not_checked(const std::vector<TestResult>& results) {
  for (const TestResult& result : results) {
    const std::string& reason = result.verdict.reason;
    if (result.verdict.outcome != Outcome::Skip) {
      continue;
    }
    if (reason.starts_with(conformance::kNoOptions)) {
      return "what is skipped for want of its options: " +
             reason.substr(conformance::kNoOptions.size());
    }
    if (reason.starts_with(conformance::kNoSample)) {
      return "what is skipped for want of a file of its format: " +
             reason.substr(conformance::kNoSample.size());
    }
  }
  return {};
}

std::string summary_line(const std::vector<TestResult>& results) {
  std::string line = std::to_string(results.size()) + " tests:";
  const char* separator = " ";
  for (const Outcome outcome : kOutcomes) {
    if (const size_t count = count_of(results, outcome)) {
      line += separator + std::to_string(count) + " " + std::string(conformance::name_of(outcome));
      separator = ", ";
    }
  }
  line += "\n";
  if (const std::string what = not_checked(results); !what.empty()) {
    line += "NOT CHECKED: " + what + "\n";
  }
  return line;
}

std::string as_json(const CheckedPlugin& plugin, const std::vector<TestResult>& results) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.member("plugin", plugin.id);
  json.member("seed", plugin.seed);
  json.key("results").begin_array();
  for (const TestResult& result : results) {
    json.begin_object();
    json.member("test", result.test);
    json.member("stage", result.stage);
    json.member("outcome", conformance::name_of(result.verdict.outcome));
    json.member("reason", result.verdict.reason);
    json.member("ms", std::round(result.ms * 10) / 10);
    json.member("repro", is_failure(result.verdict.outcome) ? plugin.repro(result.test) : "");
    json.end_object();
  }
  json.end_array();
  json.key("summary").begin_object();
  for (const Outcome outcome : kOutcomes) {
    json.member(conformance::name_of(outcome), count_of(results, outcome));
  }
  json.end_object();
  json.end_object();
  return text + "\n";
}

std::string as_junit(const CheckedPlugin& plugin, const std::vector<TestResult>& results) {
  double ms = 0;
  for (const TestResult& result : results) {
    ms += result.ms;
  }
  const size_t errors = count_of(results, Outcome::Crash) + count_of(results, Outcome::Timeout);
  const size_t skipped = count_of(results, Outcome::Skip) + count_of(results, Outcome::Blocked);
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"" +
                     xml(plugin.id) + "\" tests=\"" + std::to_string(results.size()) +
                     "\" failures=\"" + std::to_string(count_of(results, Outcome::Fail)) +
                     "\" errors=\"" + std::to_string(errors) + "\" skipped=\"" +
                     std::to_string(skipped) + "\" time=\"" + seconds(ms) + "\">\n";
  for (const TestResult& result : results) {
    text += "  <testcase classname=\"" + xml(plugin.id) + ".S" + std::to_string(result.stage) +
            "\" name=\"" + xml(result.test) + "\" time=\"" + seconds(result.ms) + "\"";
    const std::string reason = xml(result.verdict.reason);
    const std::string kind(conformance::name_of(result.verdict.outcome));
    if (is_failure(result.verdict.outcome)) {
      const std::string element = result.verdict.outcome == Outcome::Fail ? "failure" : "error";
      text += "><" + element + " type=\"" + kind + "\" message=\"" + reason + "\">" +
              xml(plugin.repro(result.test)) + "</" + element + "></testcase>\n";
    } else if (result.verdict.outcome == Outcome::Skip ||
               result.verdict.outcome == Outcome::Blocked) {
      text += "><skipped message=\"" + kind + ": " + reason + "\"/></testcase>\n";
    } else if (!reason.empty()) {
      text += "><system-out>" + kind + ": " + reason + "</system-out></testcase>\n";
    } else {
      text += "/>\n";
    }
  }
  return text + "</testsuite>\n";
}

}  // namespace prism::cli
