// SPDX-License-Identifier: Apache-2.0
#include "core/cli/plugin_probe.hpp"

#include <cstdio>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/program.hpp"
#include "core/cli/doctor/child.hpp"
#include "core/cli/plugin_commands.hpp"
#include "core/cli/plugin_describe.hpp"
#include "core/plugin/registry.hpp"
#include "prism/host/bind.hpp"

namespace prism::cli {
namespace {

constexpr std::chrono::seconds kTimeout{10};

// The child's answer: one of these lines, then the description or the message. A plugin that ends
// the process leaves no answer, with whatever exit code.
constexpr std::string_view kLoaded = "loaded\n";
constexpr std::string_view kFailed = "failed\n";

const Usage kProbe{"prism plugin __probe",
                   "FOLDER",
                   "Loads a plugin and describes it; the child process of list and show.",
                   {"FOLDER"},
                   {{"json", "", "describe it as JSON"},
                    {"allow-insecure-plugin-dir", "", "as for prism plugin show"}},
                   ""};

/// A plugin that allocates without end must not take the machine with it.
void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  constexpr rlim_t kMost = rlim_t{4} << 30;
  const rlimit limit{kMost, kMost};
  ::setrlimit(RLIMIT_DATA, &limit);
#endif
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
}

/// Takes standard output away from the plugin, and returns where it was.
int take_output() {
  const int answer = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(null, STDOUT_FILENO);
  return answer;
}

Result<std::string> describe(const std::string& folder, bool json, bool allow_insecure) {
  const plugin::Candidate candidate = plugin::examine(folder, allow_insecure);
  plugin::Registry registry(
      {.overrides = {}, .roots = {}, .folders = {folder}, .allow_insecure = allow_insecure});
  PRISM_TRY_ASSIGN(const plugin::LoadedPlugin* loaded, registry.load(candidate.id));
  std::vector<DescribedInterface> interfaces;
  for (const std::string& id : candidate.manifest.interfaces) {
    PRISM_TRY_ASSIGN(
        config::OptionRows rows,
        config::read_option_rows(candidate.id, host::interface_options(id, loaded->interface(id))));
    interfaces.push_back({id, std::move(rows)});
  }
  return json ? describe_json(candidate, interfaces) : describe_text(candidate, interfaces);
}

int probe(const Arguments& arguments) {
  const int answer = take_output();
  limit_memory();
  const Result<std::string> described = describe(arguments.at("FOLDER"), arguments.has("json"),
                                                 arguments.has("allow-insecure-plugin-dir"));
  const std::string text = described.ok() ? std::string(kLoaded) + *described
                                          : std::string(kFailed) + described.status().to_string();
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(answer, text.data() + done, text.size() - done);
    if (n <= 0) {
      return 1;
    }
    done += static_cast<size_t>(n);
  }
  // Not through exit handlers, which the plugin may have added to.
  ::_exit(0);
}

}  // namespace

Result<std::string> probe_plugin(const plugin::Candidate& candidate, Description description,
                                 bool allow_insecure) {
  std::vector<std::string> argv = {program_file(), "plugin", "__probe", candidate.folder};
  if (description == Description::Json) {
    argv.push_back("--json");
  }
  if (allow_insecure) {
    argv.push_back("--allow-insecure-plugin-dir");
  }
  const ChildResult child = run_program(argv, kTimeout);
  const std::string_view answer = child.output;
  if (answer.size() >= kMaxChildOutput) {
    return plugin_error("plugin '" + candidate.id + "' has more to say of its options than the " +
                        std::to_string(kMaxChildOutput) + " bytes that are read");
  }
  if (child.ok && answer.starts_with(kLoaded)) {
    return std::string(answer.substr(kLoaded.size()));
  }
  if (child.ok && answer.starts_with(kFailed)) {
    return plugin_error(std::string(answer.substr(kFailed.size())));
  }
  return plugin_error("plugin '" + candidate.id + "' (" + candidate.manifest.library + " " +
                      candidate.manifest.version + ") ended the process that loaded it: " +
                      (child.ok ? "it called exit" : child.ending));
}

Subcommand plugin_probe_command() {
  return {&kProbe, probe, true};
}

}  // namespace prism::cli
