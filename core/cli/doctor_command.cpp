// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>

#include "core/cli/arguments.hpp"
#include "core/cli/bare_experiment.hpp"
#include "core/cli/commands.hpp"
#include "core/cli/doctor/doctor.hpp"
#include "core/cli/environment.hpp"
#include "core/cli/interrupt.hpp"
#include "core/config/plugin_options.hpp"
#include "core/plugin/adapters.hpp"
#include "core/plugin/search_path.hpp"
#include "core/schedule/reference.hpp"
#include "prism/abi/draft/launcher.h"
#include "prism/abi/draft/runtime.h"

namespace prism::cli {
namespace {

const Usage kDoctor{
    "prism doctor",
    "[--json] [--python P] [--measure-link]",
    "What this machine has, and what each missing piece disables.",
    {},
    {{"json", "", "for programs"},
     {"python", "P", "the Python of the jobs; default: python3"},
     {"measure-link", "",
      "measure gloo between two pinned processes instead, and print it as [link.default]"}},
    "Exit code: 0 when ranks can be run on the CPU, else 4."};

Result<schedule::MeasuredLink> measure(plugin::Registry& registry, const std::string& python,
                                       const std::string& folder) {
  config::Table given;
  given.members.push_back({"python", {}, {python, {}, config::Origin::CommandLine}});
  const config::Experiment experiment = bare_experiment("torch", std::move(given));
  config::Diagnostics diagnostics("--python");
  PRISM_TRY_ASSIGN(const auto launcher_table, plugin::options(registry, "local", PRISM_LAUNCHER_1));
  PRISM_TRY_ASSIGN(const auto runtime_table, plugin::options(registry, "torch", PRISM_RUNTIME_1));
  PRISM_TRY_ASSIGN(
      const auto launcher_options,
      config::validate_plugin_options(experiment, "local", launcher_table, diagnostics));
  PRISM_TRY_ASSIGN(
      const auto runtime_options,
      config::validate_plugin_options(experiment, "torch", runtime_table, diagnostics));
  PRISM_TRY_ASSIGN(const auto runtime,
                   plugin::open_runtime(registry, "torch", runtime_options.abi()));
  PRISM_TRY_ASSIGN(const auto launcher,
                   plugin::open_launcher(registry, "local", launcher_options.abi()));
  schedule::ProcessLimits limits;
  limits.interrupt_fd = catch_interrupts();
  limits.timeout = std::chrono::minutes(5);
  const std::vector<uint32_t> cores = usable_cores();
  return schedule::measure_link(*launcher, *runtime, cores[0], cores[1 % cores.size()],
                                environment_with({}), folder, limits);
}

int measure_and_print(const std::string& python) {
  char folder[] = "/tmp/prism-link-XXXXXX";
  if (::mkdtemp(folder) == nullptr) {
    return report_error(run_error("cannot make a folder in /tmp"));
  }
  plugin::Registry registry({.overrides = {}, .roots = plugin::usual_roots()});
  const Result<schedule::MeasuredLink> link = measure(registry, python, folder);
  if (!link.ok()) {
    return report_error(link.status());  // the folder holds the output that the message names
  }
  std::filesystem::remove_all(folder);
  std::printf("# gloo between two processes of this machine, each pinned to one core\n%s",
              schedule::render_toml(*link).c_str());
  return 0;
}

int doctor(const Arguments& arguments) {
  DoctorOptions options;
  options.program_folder = std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
  if (arguments.has("python")) {
    options.python = arguments.at("python");
  }
  if (arguments.has("measure-link")) {
    return measure_and_print(options.python);
  }
  const DoctorReport report = collect(options);
  std::fputs((arguments.has("json") ? render_json(report) : render_text(report)).c_str(), stdout);
  return report.exit_code();
}

}  // namespace

int doctor_command(const Words& words) {
  return run_parsed(kDoctor, words, doctor);
}

}  // namespace prism::cli
