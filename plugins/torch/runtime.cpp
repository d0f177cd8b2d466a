// SPDX-License-Identifier: Apache-2.0
/// prism.runtime/1 for unmodified PyTorch programs. Free of torch itself: the agent, one companion
/// library per minor version of torch, is loaded by the program.
#include "prism/sdk/runtime.hpp"

#include <algorithm>
#include <csignal>
#include <dlfcn.h>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "plugins/torch/environment.hpp"
#include "plugins/torch/python.hpp"
#include "prism/sdk/plugin.hpp"

namespace prism::torch_runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAgentPrefix = "libprism_agent_torch";
constexpr std::string_view kAgentSuffix = ".so";

/// The folder of this plugin, where its companions and its Python files are.
fs::path own_folder() {
  static const char kAnchor = 0;
  Dl_info info{};
  if (::dladdr(&kAnchor, &info) == 0 || info.dli_fname == nullptr) {
    throw sdk::Error(PRISM_STATUS_INTERNAL, "the plugin does not know where it was loaded from");
  }
  return fs::absolute(info.dli_fname).parent_path();
}

/// "211" for "2.11.0+cu130"; empty where the text is no version.
std::string tag_of(std::string_view version) {
  const size_t dot = version.find('.');
  if (dot == std::string_view::npos || dot == 0) {
    return {};
  }
  const size_t end = std::min(version.find_first_not_of("0123456789", dot + 1), version.size());
  return std::string(version.substr(0, dot)) + std::string(version.substr(dot + 1, end - dot - 1));
}

/// The agents of this installation by tag.
std::map<std::string, fs::path> agents(const fs::path& folder) {
  std::map<std::string, fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kAgentPrefix) && name.ends_with(kAgentSuffix)) {
      const size_t length = name.size() - kAgentPrefix.size() - kAgentSuffix.size();
      found.emplace(name.substr(kAgentPrefix.size(), length), entry.path());
    }
  }
  return found;
}

std::string list_minors(const std::map<std::string, fs::path>& found) {
  std::string list;
  for (const auto& [tag, path] : found) {
    list += (list.empty() ? "torch " : ", ") + tag.substr(0, 1) + "." + tag.substr(1);
  }
  return list.empty() ? "no version of torch" : list;
}

#ifdef __SANITIZE_ADDRESS__
extern "C" void __asan_init();

/// An agent with AddressSanitizer needs its runtime in Python before anything else is.
void preload_sanitizer(Environment& env) {
  std::string libraries;
  const void* const found[] = {reinterpret_cast<void*>(&__asan_init),
                               reinterpret_cast<void*>(&std::set_terminate)};
  for (const void* symbol : found) {
    Dl_info info{};
    ::dladdr(symbol, &info);
    libraries += std::string(libraries.empty() ? "" : ":") + info.dli_fname;
  }
  env.set_default("LD_PRELOAD", libraries);
  env.set_default("ASAN_OPTIONS", "detect_leaks=0");  // Python and torch leave much behind
}
#endif

class TorchRuntime {
 public:
  static constexpr auto kOptions =
      sdk::options(sdk::text("python", "The Python that runs the job, looked up in the job's PATH.")
                       .by_default("\"python3\""),
                   sdk::path("hook",
                             "Python file that each rank imports before it goes on with the "
                             "job, right after torch."));

  explicit TorchRuntime(const sdk::OptionValues& values)
      : python_name_(values.text("python")),
        hook_(values.has("hook") ? values.path("hook") : std::string()),
        folder_(own_folder()) {
    if (!hook_.empty() && !fs::is_regular_file(hook_)) {
      throw sdk::Error(PRISM_STATUS_NOT_FOUND,
                       "the file '" + hook_ + "' of the option 'hook' is not there");
    }
  }

  std::string probe(const std::vector<std::string>& env) {
    inspected_.reset();
    const Found& found = find(Environment(env));
    return "python=" + found.python.version + "\ntorch=" + found.python.torch +
           "\nagent=" PRISM_PLUGIN_VERSION "\n";
  }

  sdk::Command command(const sdk::RankSpec& spec) {
    Environment env(spec.env);
    const Found& found = find(env);
    set_elastic(spec, env);
    set_interception(spec, found, env);
#ifdef __SANITIZE_ADDRESS__
    preload_sanitizer(env);
#endif
    sdk::Command command;
    command.argv = {found.python.program, spec.script};
    command.argv.insert(command.argv.end(), spec.args.begin(), spec.args.end());
    command.env = env.entries();
    return command;
  }

  sdk::Command reference_command(const sdk::ReferenceSpec& spec) {
    Environment env(spec.env);
    const Found& found = find(env);
    prepend_hook(env);
    env.set_default("OMP_NUM_THREADS", "1");
    env.set("PRISM_MARKS_FOLDER", spec.marks_folder);
    env.set("PRISM_AGENT_SCRIPT", spec.script);
    std::string cores;
    for (const uint32_t core : spec.cores) {
      cores += (cores.empty() ? "" : ",") + std::to_string(core);
    }
    env.set("PRISM_MARKS_CORES", cores);
    sdk::Command command;
    command.argv = {found.python.program,
                    "-m",
                    "torch.distributed.run",
                    "--standalone",
                    "--nproc-per-node",
                    std::to_string(spec.world_size),
                    spec.script};
    command.argv.insert(command.argv.end(), spec.args.begin(), spec.args.end());
    command.env = env.entries();
    return command;
  }

  sdk::Command measure_link_command(const sdk::LinkSpec& spec) {
    Environment env(spec.env);
    const Found& found = find(env);
    for (const char* name : {"RANK", "WORLD_SIZE"}) {  // the script takes these for its own
      env.unset(name);
    }
    return {{found.python.program, (folder_ / "python" / "prism_measure_link.py").string(),
             std::to_string(spec.first_core), std::to_string(spec.second_core)},
            env.entries()};
  }

  int stack_signal() {
    return SIGRTMIN + 7;
  }

 private:
  struct Found {
    std::string asked_under;  ///< what of the environment decides which Python and torch it is
    Python python;
    fs::path agent;
  };

  const Found& find(const Environment& env) {
    std::string asked_under;
    for (const char* name : {"PATH", "PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "HOME"}) {
      asked_under += env.get(name).value_or("") + '\0';
    }
    if (inspected_ && inspected_->asked_under == asked_under) {
      return *inspected_;
    }
    const Python python = inspect(find_program(python_name_, env), env);
    const std::map<std::string, fs::path> available = agents(folder_);
    const std::string where = "'" + python.program + "' (Python " + python.version + ")";
    if (python.torch.empty()) {
      throw sdk::Error(PRISM_STATUS_FAILED_PRECONDITION,
                       where + " has no torch: install " + list_minors(available) +
                           " there, or name another Python with the option 'python'");
    }
    const auto agent = available.find(tag_of(python.torch));
    if (agent == available.end()) {
      throw sdk::Error(
          PRISM_STATUS_FAILED_PRECONDITION,
          where + " has torch " + python.torch + ", but this Prism has an agent for " +
              list_minors(available) +
              ": install such a torch, name another Python with the option 'python', or build "
              "Prism against this torch (cmake -DPRISM_TORCH_ROOT=<folder of the torch package>)");
    }
    inspected_ = Found{std::move(asked_under), python, agent->second};
    return *inspected_;
  }

  /// What torchrun would set.
  static void set_elastic(const sdk::RankSpec& spec, Environment& env) {
    const uint32_t per_node = std::max(spec.local_world_size, 1U);
    const uint64_t nodes = (uint64_t{spec.world_size} + per_node - 1) / per_node;
    const std::string rank = std::to_string(spec.rank);
    const std::string world_size = std::to_string(spec.world_size);
    env.set("RANK", rank);
    env.set("WORLD_SIZE", world_size);
    env.set("LOCAL_RANK", std::to_string(spec.local_rank));
    env.set("LOCAL_WORLD_SIZE", std::to_string(per_node));
    env.set("GROUP_RANK", std::to_string(spec.rank / per_node));
    env.set("GROUP_WORLD_SIZE", std::to_string(nodes));
    env.set("ROLE_NAME", "default");
    env.set("ROLE_RANK", rank);
    env.set("ROLE_WORLD_SIZE", world_size);
    env.set_default("MASTER_ADDR", "127.0.0.1");
    env.set_default("MASTER_PORT", "29500");
    env.set("TORCHELASTIC_RUN_ID", "prism");
    env.set("TORCHELASTIC_RESTART_COUNT", "0");
    env.set("TORCHELASTIC_MAX_RESTARTS", "0");
    env.set("TORCHELASTIC_USE_AGENT_STORE", "True");
    env.set_default("OMP_NUM_THREADS", "1");
  }

  /// `import torch` finds the hook (torch.backends) in this folder.
  void prepend_hook(Environment& env) const {
    const std::string hook = (folder_ / "python").string();
    const std::string path = env.get("PYTHONPATH").value_or("");
    env.set("PYTHONPATH", path.empty() ? hook : hook + ":" + path);
    env.set("TORCH_DEVICE_BACKEND_AUTOLOAD", "1");
  }

  void set_interception(const sdk::RankSpec& spec, const Found& found, Environment& env) {
    prepend_hook(env);
    // NCCL's monitor reads keys of the store that nobody sets.
    env.set("TORCH_NCCL_ENABLE_MONITORING", "0");
    env.set("PRISM_AGENT_FD", std::to_string(spec.agent_fd));
    env.set("PRISM_AGENT_LIB", found.agent.string());
    env.set("PRISM_AGENT_SCRIPT", spec.script);
    if (!hook_.empty()) {
      env.set("PRISM_AGENT_HOOK", hook_);
    }
    env.set("PRISM_AGENT_RANK", std::to_string(spec.rank));
    env.set("PRISM_AGENT_WORLD_SIZE", std::to_string(spec.world_size));
    env.set("PRISM_AGENT_STACK_SIGNAL", std::to_string(stack_signal()));
  }

  const std::string python_name_;
  const std::string hook_;  ///< empty: none
  const fs::path folder_;
  std::optional<Found> inspected_;
};

}  // namespace
}  // namespace prism::torch_runtime

PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION,
             prism::sdk::Runtime<prism::torch_runtime::TorchRuntime>);
