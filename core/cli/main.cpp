// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "core/cli/commands.hpp"
#include "prism/abi/version.h"

namespace {

constexpr const char* kHelp =
    R"(Prism runs a few ranks of a large distributed training job and replays the rest.

usage: prism COMMAND ...

commands:
  run EXPERIMENT       record the job's ranks, replay the whole job, print the prediction
  config check FILE    say what is wrong in an experiment file
  config show FILE     print the effective experiment with the origin of each value
  config reference     everything that an experiment file may say
  plugin list          the plugins that are found, and which of them can be used
  plugin show ID       one plugin: its options, and how an experiment uses it
  plugin check ID      whether a plugin keeps the rules of its interface
  plugin new KIND NAME start a plugin of your own
  trace info FILE...   what a trace of a real job shows, and how well the replay reproduces it
  trace check FILE...  whether it holds together, and whether replicas are alike
  trace import|cut     store what a trace shows, or a slice of it, in a .prism file
  trace export FILE... write its replay as a timeline
  trace diff A B       how two traces of a job differ, or the replicas of one
  calibrate FILE...    take the waiting out of slices of a job and put them together
  predict FILE...      iteration time of a trace, and where it goes
  whatif FILE...       replay a trace with other times; who is responsible for how much of it
  doctor               what this machine can do, and what each missing piece disables
  --version            version of the program and of the plugin ABI

'prism COMMAND --help' tells more. Exit codes: 0 done, 1 the run failed or a check did not hold,
2 usage or configuration, 3 plugin, 4 environment, 70 a bug in Prism, 130 interrupted.
)";

int dispatch(const std::string& command, const prism::cli::Words& words) {
  using namespace prism::cli;
  if (command == "run") {
    return run_command(words);
  }
  if (command == "config") {
    return config_command(words);
  }
  if (command == "plugin") {
    return plugin_command(words);
  }
  if (command == "trace") {
    return trace_command(words);
  }
  if (command == "calibrate") {
    return calibrate_command(words);
  }
  if (command == "predict") {
    return predict_command(words);
  }
  if (command == "whatif") {
    return whatif_command(words);
  }
  if (command == "doctor") {
    return doctor_command(words);
  }
  if (command == "--help" || command == "-h" || command == "help") {
    std::fputs(kHelp, stdout);
    return 0;
  }
  if (command == "--version") {
    std::printf("prism %s, plugin ABI %d.%d\n", PRISM_VERSION, PRISM_ABI_MAJOR, PRISM_ABI_MINOR);
    return 0;
  }
  return report_error(
      prism::config_error("unknown command '" + command + "'; 'prism --help' lists the commands"));
}

/// `code`, or 1 where what was printed did not arrive, on a full disk say. A reader that went away
/// (`| head`) wanted no more.
int after_output(int code) {
  errno = 0;
  const bool lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!lost || errno == EPIPE || code != 0) {
    return code;
  }
  std::fprintf(stderr, "prism: error: cannot write to standard output: %s\n",
               errno == 0 ? "an earlier write failed" : std::strerror(errno));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs(kHelp, stderr);
    return 2;
  }
  try {
    return after_output(dispatch(argv[1], prism::cli::Words(argv + 2, argv + argc)));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "prism: bug: %s\n", error.what());
    return 70;
  }
}
