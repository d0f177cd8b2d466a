// SPDX-License-Identifier: Apache-2.0
// prism plugin check: the conformance tests, each in a process of its own.
#include <algorithm>
#include <cstdio>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/base/wildcard.hpp"
#include "core/cli/plugin_check_report.hpp"
#include "core/cli/plugin_check_subject.hpp"
#include "core/cli/plugin_commands.hpp"
#include "core/cli/plugin_search.hpp"
#include "sdk/conformance/child.hpp"

namespace prism::cli {
namespace {

using conformance::TestResult;

constexpr int64_t kMaxTimeoutS = 3600;

const Usage kCheck{
    "prism plugin check",
    "ID|PATH [options]",
    "Whether a plugin keeps the rules of the plugin ABI and does what its kind must do.\n"
    "PATH, its folder or library, has a '/' in it.",
    {"ID|PATH"},
    with_search_flags(
        {{"level", "N", "only the stages S0 to SN; default: all, S0 to S10"},
         {"only", "NAME", "only this test; '*' in it: any characters (repeatable)", true},
         {"skip", "NAME", "not this test, likewise (repeatable)", true},
         {"options", "FILE", "TOML file with [plugins.options.ID], for the sessions"},
         {"sample", "FILE", "of a format: a trace to import; of several files, each (repeatable)",
          true},
         {"seed", "N", "of random values and requests; default: 1"},
         {"timeout", "SECONDS", "that a test may take; default: 10"},
         {"in-process", "", "no child processes, for a debugger; a crash ends prism"},
         {"only-failed", "", "do not print what passes"},
         {"json", "", "for programs"},
         {"junit", "FILE", "also write the results as JUnit XML"},
         {"list", "", "name the tests and run none"}}),
    "Stages: S0 file, S1 load, S2 identity, S3 lifecycle, S4 options, S5 semantics of the kind,\n"
    "S6 errors, S7 compatibility, S8 threads, S9 determinism, S10 unload. Exit code: 0, or 3 when\n"
    "a test fails, crashes or takes too long, or 2 when tests need --options or --sample."};

Result<int64_t> integer_or(const Arguments& arguments, const std::string& flag, int64_t otherwise,
                           int64_t min, int64_t max) {
  return arguments.has(flag) ? integer_value(arguments, flag, min, max)
                             : Result<int64_t>(otherwise);
}

/// The values of --only or --skip, which every character of a test's name fits.
Result<std::vector<std::string>> patterns_of(const Arguments& arguments, const std::string& flag) {
  std::vector<std::string> patterns = arguments.all(flag);
  for (const std::string& pattern : patterns) {
    const bool fit = !pattern.empty() && std::all_of(pattern.begin(), pattern.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             std::string_view("._/-*").find(c) != std::string_view::npos;
    });
    if (!fit) {
      return config_error("--" + flag +
                          " takes the name of a test, in which '*' stands for any "
                          "characters ('S5.*'), not '" +
                          printable(pattern) + "'");
    }
  }
  return patterns;
}

bool fits_any(const std::string& name, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return fits(name, pattern); });
}

/// The tests that the user wants.
Result<conformance::Suite> chosen_tests(const Arguments& arguments,
                                        const conformance::Subject& subject) {
  PRISM_TRY_ASSIGN(const int64_t level, integer_or(arguments, "level", conformance::kLastStage, 0,
                                                   conformance::kLastStage));
  PRISM_TRY_ASSIGN(const std::vector<std::string> only, patterns_of(arguments, "only"));
  PRISM_TRY_ASSIGN(const std::vector<std::string> skip, patterns_of(arguments, "skip"));
  conformance::Suite tests = conformance::suite_for(subject);
  std::erase_if(tests, [&](const conformance::Test& test) {
    return test.hidden || test.stage() > level || (!only.empty() && !fits_any(test.name, only)) ||
           fits_any(test.name, skip);
  });
  if (tests.empty()) {
    return config_error("no test is left by --level, --only and --skip; --list names them all");
  }
  return tests;
}

Result<conformance::RunOptions> run_options(const Arguments& arguments) {
  conformance::RunOptions options;
  PRISM_TRY_ASSIGN(const int64_t seed, integer_or(arguments, "seed", 1, 0, INT64_MAX));
  PRISM_TRY_ASSIGN(options.timeout_s, integer_or(arguments, "timeout",
                                                 conformance::kDefaultTimeoutS, 1, kMaxTimeoutS));
  options.seed = static_cast<uint64_t>(seed);
  options.jobs = std::max(std::thread::hardware_concurrency(), 1U);
  options.in_process = arguments.has("in-process");
  return options;
}

void print_list(const conformance::Suite& tests) {
  size_t width = 0;
  for (const conformance::Test& test : tests) {
    width = std::max(width, test.name.size());
  }
  for (const conformance::Test& test : tests) {
    std::printf("%-*s  %s\n", static_cast<int>(width), test.name.c_str(), test.doc.c_str());
  }
}

/// Runs the tests and prints what came out. Gives the exit code.
Result<int> run(const Arguments& arguments, const CheckedPlugin& plugin,
                const conformance::Subject& subject, const conformance::Suite& tests,
                const conformance::RunOptions& options) {
  const bool json = arguments.has("json");
  const bool only_failed = arguments.has("only-failed");
  const std::vector<TestResult> results =
      conformance::run_suite(subject, tests, options, [&](const TestResult& result) {
        if (!json && (!only_failed || is_failure(result.verdict.outcome))) {
          std::fputs(as_line(plugin, result).c_str(), stdout);
          std::fflush(stdout);
        }
      });
  std::vector<TestResult> shown = results;
  if (only_failed) {
    std::erase_if(shown, [](const TestResult& r) { return !is_failure(r.verdict.outcome); });
  }
  std::fputs(json ? as_json(plugin, shown).c_str() : summary_line(results).c_str(), stdout);
  if (arguments.has("junit")) {
    PRISM_TRY(write_file_atomically(arguments.at("junit"), as_junit(plugin, results)));
  }
  const bool failed = std::any_of(results.begin(), results.end(), [](const TestResult& r) {
    return is_failure(r.verdict.outcome);
  });
  if (!failed && !not_checked(results).empty()) {
    return config_error("").exit_code();
  }
  return failed ? plugin_error("").exit_code() : 0;
}

Result<int> check_plugin(const Arguments& arguments) {
  PRISM_TRY_ASSIGN(const plugin::SearchPath path, search_path(arguments));
  PRISM_TRY_ASSIGN(const plugin::Candidate found, find_plugin(arguments.at("ID|PATH"), path));
  if (found.state != plugin::State::Ok) {
    return plugin_error(found.folder + ": " + found.reason);
  }
  if (const std::string why = path.allow_insecure ? "" : plugin::why_untrusted_libraries(found);
      !why.empty()) {
    return plugin_error(found.folder + ": " + why);
  }
  const CheckFiles files = {arguments.has("options") ? arguments.at("options") : "",
                            arguments.all("sample")};
  PRISM_TRY_ASSIGN(const conformance::Subject subject, subject_of(found, files));
  PRISM_TRY_ASSIGN(const conformance::Suite tests, chosen_tests(arguments, subject));
  PRISM_TRY_ASSIGN(const conformance::RunOptions options, run_options(arguments));
  if (arguments.has("list")) {
    print_list(tests);
    return 0;
  }
  if (arguments.has("junit")) {  // what cannot be written is told before the tests take their time
    PRISM_TRY(write_file_atomically(arguments.at("junit"), ""));
  }
  return run(arguments, {found.id, arguments.at("ID|PATH"), files, options.seed}, subject, tests,
             options);
}

int check(const Arguments& arguments) {
  const Result<int> code = check_plugin(arguments);
  return code.ok() ? *code : report_error(code.status());
}

}  // namespace

Subcommand plugin_check_command() {
  return {&kCheck, check};
}

}  // namespace prism::cli
