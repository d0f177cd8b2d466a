// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/adapters.hpp"

#include <string>
#include <utility>
#include <vector>

#include "core/plugin/bound.hpp"
#include "prism/abi/draft/launcher.h"
#include "prism/abi/draft/runtime.h"
#include "prism/host/bind.hpp"
#include "prism/host/call_notes.hpp"
#include "prism/host/sinks.hpp"
#include "prism/host/threads.hpp"
#include "prism/sdk/text.hpp"

namespace prism::plugin {
namespace {

using sdk::to_c;

std::vector<prism_str_t> to_c(const std::vector<std::string>& texts) {
  std::vector<prism_str_t> result;
  result.reserve(texts.size());
  for (const std::string& text : texts) {
    result.push_back(to_c(text));
  }
  return result;
}

class PluginLauncher final : public schedule::Launcher {
 public:
  PluginLauncher(Bound<prism_launcher_t> bound, prism_launcher_session_t* session)
      : plugin_(*bound.plugin), table_(*bound.table), session_(session) {}
  ~PluginLauncher() override {
    const auto entered = threads_.enter(host::ThreadTag::Control, "close");
    const host::NotedCall noted(plugin_.name(), "close");
    table_.close(session_);
  }
  PluginLauncher(const PluginLauncher&) = delete;
  PluginLauncher& operator=(const PluginLauncher&) = delete;

  std::string describe() override {
    const auto entered = threads_.enter(host::ThreadTag::Control, "describe");
    const host::TextSink text;
    table_.describe(session_, text.c());
    return text.text();
  }

  Result<schedule::ProcessId> spawn(const schedule::LaunchSpec& spec) override {
    const auto entered = threads_.enter(host::ThreadTag::Control, "spawn");
    const std::vector<prism_str_t> argv = to_c(spec.argv);
    const std::vector<prism_str_t> env = to_c(spec.env);
    std::vector<prism_fd_map_t> fds;
    for (const auto& [source, target] : spec.fds) {
      fds.push_back({source, target});
    }
    prism_launch_spec_t c{};
    c.struct_size = sizeof c;
    c.argv = argv.data();
    c.argc = argv.size();
    c.env = env.data();
    c.envc = env.size();
    c.cwd = to_c(spec.cwd);
    c.stdout_path = to_c(spec.stdout_path);
    c.stderr_path = to_c(spec.stderr_path);
    c.cores = spec.cores.data();
    c.core_count = spec.cores.size();
    c.fds = fds.data();
    c.fd_count = fds.size();
    const host::ErrorSink error;
    uint64_t process = 0;
    const prism_status_t status = table_.spawn(session_, &c, &process, error.c());
    PRISM_TRY(outcome(plugin_, "spawn", status, error, Domain::Run));
    return process;
  }

  Status signal(schedule::ProcessId process, int signo) override {
    const auto entered = threads_.enter(host::ThreadTag::Control, "signal");
    const host::ErrorSink error;
    const prism_status_t status = table_.signal(session_, process, signo, error.c());
    return outcome(plugin_, "signal", status, error, Domain::Run);
  }

  int event_fd() override {
    const auto entered = threads_.enter(host::ThreadTag::Control, "event_fd");
    return table_.event_fd(session_);
  }

  Result<std::optional<schedule::ProcessExit>> next_exit() override {
    const auto entered = threads_.enter(host::ThreadTag::Control, "next_exit");
    const host::ErrorSink error;
    prism_process_exit_t c{};
    c.struct_size = sizeof c;
    const prism_status_t status = table_.next_exit(session_, &c, error.c());
    if (status == PRISM_STATUS_NOT_FOUND) {
      return std::optional<schedule::ProcessExit>();
    }
    PRISM_TRY(outcome(plugin_, "next_exit", status, error, Domain::Run));
    return std::optional(schedule::ProcessExit{c.process, c.exit_code, c.signal});
  }

 private:
  const LoadedPlugin& plugin_;
  const prism_launcher_t& table_;
  prism_launcher_session_t* session_;
  host::ThreadRules threads_{plugin_.name()};
};

/// Collects the command line of a rank.
class CommandSink {
 public:
  const prism_command_sink_t* c() const { return &sink_; }
  schedule::Command take() { return std::move(command_); }
  bool complete() const { return complete_; }

 private:
  /// Byte by byte: an environment may hold what is no UTF-8, and it must arrive as it was.
  static void add(std::vector<std::string>& list, bool& complete, prism_str_t text) noexcept {
    try {
      if (text.len > host::kMaxText || (text.ptr == nullptr && text.len > 0) ||
          list.size() >= kMaxStrings) {
        complete = false;
      } else {
        list.emplace_back(text.len == 0 ? "" : text.ptr, static_cast<size_t>(text.len));
      }
    } catch (...) {
      complete = false;
    }
  }
  static void arg(void* ctx, prism_str_t text) noexcept {
    auto* sink = static_cast<CommandSink*>(ctx);
    add(sink->command_.argv, sink->complete_, text);
  }
  static void env(void* ctx, prism_str_t text) noexcept {
    auto* sink = static_cast<CommandSink*>(ctx);
    add(sink->command_.env, sink->complete_, text);
  }

  static constexpr size_t kMaxStrings = size_t{1} << 20;

  schedule::Command command_;
  bool complete_ = true;
  prism_command_sink_t sink_{sizeof(prism_command_sink_t), 0, this, &arg, &env};
};

class PluginRuntime final : public schedule::Runtime {
 public:
  PluginRuntime(Bound<prism_runtime_t> bound, prism_runtime_session_t* session)
      : plugin_(*bound.plugin), table_(*bound.table), session_(session) {}
  ~PluginRuntime() override {
    const auto entered = threads_.enter(host::ThreadTag::Control, "close");
    const host::NotedCall noted(plugin_.name(), "close");
    table_.close(session_);
  }
  PluginRuntime(const PluginRuntime&) = delete;
  PluginRuntime& operator=(const PluginRuntime&) = delete;

  Result<std::string> probe(const std::vector<std::string>& env) override {
    const auto entered = threads_.enter(host::ThreadTag::Control, "probe");
    const std::vector<prism_str_t> c = to_c(env);
    const host::ErrorSink error;
    const host::TextSink text;
    const prism_status_t status = table_.probe(session_, c.data(), c.size(), text.c(), error.c());
    PRISM_TRY(outcome(plugin_, "probe", status, error, machine_or(Domain::Run, status)));
    return text.text();
  }

  Result<schedule::Command> command(const schedule::RankSpec& spec) override {
    const std::vector<prism_str_t> args = to_c(spec.args);
    const std::vector<prism_str_t> env = to_c(spec.env);
    prism_rank_spec_t c{};
    c.struct_size = sizeof c;
    c.rank = spec.rank;
    c.world_size = spec.world_size;
    c.local_rank = spec.local_rank;
    c.local_world_size = spec.local_world_size;
    c.agent_fd = spec.agent_fd;
    c.seed = spec.seed;
    c.script = to_c(spec.script);
    c.args = args.data();
    c.arg_count = args.size();
    c.env = env.data();
    c.env_count = env.size();
    return command_of("command", [&](const CommandSink& sink, const host::ErrorSink& error) {
      return table_.command(session_, &c, sink.c(), error.c());
    });
  }

  Result<schedule::Command> reference_command(const schedule::ReferenceSpec& spec) override {
    const std::vector<prism_str_t> args = to_c(spec.args);
    const std::vector<prism_str_t> env = to_c(spec.env);
    prism_reference_spec_t c{};
    c.struct_size = sizeof c;
    c.world_size = spec.world_size;
    c.cores = spec.cores.data();
    c.core_count = spec.cores.size();
    c.marks_folder = to_c(spec.marks_folder);
    c.script = to_c(spec.script);
    c.args = args.data();
    c.arg_count = args.size();
    c.env = env.data();
    c.env_count = env.size();
    return command_of("reference_command",
                      [&](const CommandSink& sink, const host::ErrorSink& error) {
                        return table_.reference_command(session_, &c, sink.c(), error.c());
                      });
  }

  Result<schedule::Command> measure_link_command(uint32_t first_core, uint32_t second_core,
                                                 const std::vector<std::string>& env) override {
    const std::vector<prism_str_t> c = to_c(env);
    return command_of("measure_link_command",
                      [&](const CommandSink& sink, const host::ErrorSink& error) {
                        return table_.measure_link_command(session_, first_core, second_core,
                                                           c.data(), c.size(), sink.c(), error.c());
                      });
  }

  int stack_signal() override {
    const auto entered = threads_.enter(host::ThreadTag::Control, "stack_signal");
    return table_.stack_signal(session_);
  }

 private:
  /// The command line that `call` writes into a sink.
  template <typename Call>
  Result<schedule::Command> command_of(const char* function, const Call& call) {
    const host::ErrorSink error;
    CommandSink sink;
    const auto entered = threads_.enter(host::ThreadTag::Control, function);
    const prism_status_t status = call(sink, error);
    PRISM_TRY(outcome(plugin_, function, status, error, machine_or(Domain::Run, status)));
    schedule::Command command = sink.take();
    if (!sink.complete() || command.argv.empty()) {
      return run_error(plugin_.name() + ": " + function + "() gave no command line",
                       Code::Internal);
    }
    return command;
  }

  const LoadedPlugin& plugin_;
  const prism_runtime_t& table_;
  prism_runtime_session_t* session_;
  host::ThreadRules threads_{plugin_.name()};
};

}  // namespace

Result<prism_option_table_t> options(Registry& registry, std::string_view id,
                                     std::string_view interface) {
  if (host::knows(interface)) {
    PRISM_TRY_ASSIGN(const auto bound, bind<void>(registry, id, std::string(interface).c_str()));
    return host::interface_options(interface, bound.table);
  }
  return plugin_error("this program does not know the interface '" + std::string(interface) + "'",
                      Code::Unimplemented);
}

Result<std::unique_ptr<schedule::Launcher>> open_launcher(Registry& registry, std::string_view id,
                                                          OptionValues values) {
  PRISM_TRY_ASSIGN(const auto bound, bind<prism_launcher_t>(registry, id, PRISM_LAUNCHER_1));
  PRISM_TRY_ASSIGN(auto* session,
                   (open_session<prism_launcher_t, prism_launcher_session_t>(bound, values)));
  return std::unique_ptr<schedule::Launcher>(new PluginLauncher(bound, session));
}

Result<std::unique_ptr<schedule::Runtime>> open_runtime(Registry& registry, std::string_view id,
                                                        OptionValues values) {
  PRISM_TRY_ASSIGN(const auto bound, bind<prism_runtime_t>(registry, id, PRISM_RUNTIME_1));
  PRISM_TRY_ASSIGN(auto* session,
                   (open_session<prism_runtime_t, prism_runtime_session_t>(bound, values)));
  return std::unique_ptr<schedule::Runtime>(new PluginRuntime(bound, session));
}

}  // namespace prism::plugin
