// SPDX-License-Identifier: Apache-2.0
// prism plugin __child: the process in which one conformance test runs.
#include "core/cli/plugin_check_subject.hpp"
#include "core/cli/plugin_commands.hpp"
#include "sdk/conformance/child.hpp"

namespace prism::cli {
namespace {

const Usage kChild{"prism plugin __child",
                   "FOLDER OPTIONS TEST SEED TIMEOUT",
                   "Runs one test of prism plugin check, which starts it.",
                   {"FOLDER", "OPTIONS", "TEST", "SEED", "TIMEOUT"},
                   {{"sample", "FILE", "a file of the plugin's format (repeatable)", true}},
                   ""};

Result<int> run_child(const Arguments& arguments) {
  // Whether the folder is to be trusted has been decided by who started this.
  const plugin::Candidate candidate = plugin::examine(arguments.at("FOLDER"), true);
  if (candidate.state != plugin::State::Ok) {
    return plugin_error(candidate.folder + ": " + candidate.reason);
  }
  PRISM_TRY_ASSIGN(const conformance::Subject subject,
                   subject_of(candidate, {arguments.at("OPTIONS"), arguments.all("sample")}));
  PRISM_TRY_ASSIGN(const int64_t seed, integer_value(arguments, "SEED", 0, INT64_MAX));
  PRISM_TRY_ASSIGN(const int64_t timeout, integer_value(arguments, "TIMEOUT", 1, INT64_MAX));
  return conformance::supervise(subject, arguments.at("TEST"), static_cast<uint64_t>(seed),
                                timeout);
}

int child(const Arguments& arguments) {
  const Result<int> code = run_child(arguments);
  return code.ok() ? *code : report_error(code.status());
}

}  // namespace

Subcommand plugin_child_command() {
  return {&kChild, child, true};
}

}  // namespace prism::cli
