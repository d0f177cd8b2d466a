// SPDX-License-Identifier: Apache-2.0
// A plugin that does everything right: a launcher that starts nothing and says what it was asked,
// and a runtime that echoes its rank spec.
#include <optional>
#include <string>
#include <vector>

#include "prism/sdk/launcher.hpp"
#include "prism/sdk/log.hpp"
#include "prism/sdk/options.hpp"
#include "prism/sdk/plugin.hpp"
#include "prism/sdk/runtime.hpp"

namespace {

using prism::sdk::Error;
using prism::sdk::OptionValues;

constexpr prism_str_t kModes[] = {prism::sdk::to_c("work"), prism::sdk::to_c("unable"),
                                  prism::sdk::to_c("broken")};

class EchoLauncher {
 public:
  static constexpr auto kOptions = prism::sdk::options(
      prism::sdk::text("mode", "What open shall do.").choices(kModes).by_default("\"work\""),
      prism::sdk::duration("grace", "How long to wait.").range(0, 1'000'000'000),
      prism::sdk::path("log", "Where to.").required());

  explicit EchoLauncher(const OptionValues& values) : log_(values.path("log")) {
    if (values.text("mode") == "unable") {
      throw Error(PRISM_STATUS_FAILED_PRECONDITION, "this machine has no namespaces");
    }
    if (values.text("mode") == "broken") {
      throw std::runtime_error("something else");
    }
    grace_ = values.has("grace") ? values.duration_ns("grace") : -1;
    prism::sdk::log(prism::sdk::Level::Debug, [&] { return "echo launcher logs to " + log_; });
  }
  std::string describe() { return "echo, grace " + std::to_string(grace_) + ", log " + log_; }
  uint64_t spawn(const prism::sdk::LaunchSpec& spec) {
    if (spec.argv.empty()) {
      throw std::invalid_argument("argv is empty");
    }
    if (spec.argv[0] == "missing") {
      throw Error(PRISM_STATUS_NOT_FOUND, "no program 'missing' in PATH");
    }
    for (const prism_fd_map_t& fd : spec.fds) {
      last_exit_code_ += fd.target;
    }
    last_ = ++count_;
    return count_;
  }
  void signal(uint64_t process, int signo) {
    if (process != last_) {
      throw Error(PRISM_STATUS_NOT_FOUND, "process " + std::to_string(process) + " has ended");
    }
    last_signal_ = signo;
  }
  int event_fd() { return 42; }
  std::optional<prism::sdk::ProcessExit> next_exit() {
    if (last_ == 0) {
      return std::nullopt;
    }
    if (last_signal_ == 9) {
      throw Error(PRISM_STATUS_UNAVAILABLE, "the guard has died");
    }
    const prism::sdk::ProcessExit exit{last_, last_exit_code_, last_signal_};
    last_ = 0;
    return exit;
  }

 private:
  std::string log_;
  int64_t grace_ = 0;
  uint64_t count_ = 0;
  uint64_t last_ = 0;
  int last_signal_ = 0;
  int last_exit_code_ = 0;
};

class EchoRuntime {
 public:
  explicit EchoRuntime(const OptionValues&) {}
  std::string probe(const std::vector<std::string>& env) {
    if (env.empty()) {
      throw Error(PRISM_STATUS_FAILED_PRECONDITION, "torch is missing; install torch==2.11.0");
    }
    return "env=" + env[0] + "\n";
  }
  prism::sdk::Command command(const prism::sdk::RankSpec& spec) {
    if (spec.rank >= spec.world_size) {
      throw std::invalid_argument("rank out of range");
    }
    prism::sdk::Command command;
    command.argv = {"run", spec.script};
    command.argv.insert(command.argv.end(), spec.args.begin(), spec.args.end());
    command.env = spec.env;
    command.env.push_back("RANK=" + std::to_string(spec.rank));
    command.env.push_back("FD=" + std::to_string(spec.agent_fd));
    command.env.push_back("SEED=" + std::to_string(spec.seed));
    return command;
  }
  int stack_signal() { return 10; }
};

}  // namespace

PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION, prism::sdk::Launcher<EchoLauncher>,
             prism::sdk::Runtime<EchoRuntime>);
