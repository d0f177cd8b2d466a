// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>

#include "core/cli/arguments.hpp"
#include "core/cli/commands.hpp"
#include "core/cli/doctor/doctor.hpp"

namespace prism::cli {
namespace {

const Usage kDoctor{
    "prism doctor",
    "[--json] [--python P]",
    "What this machine has, and what each missing piece disables.",
    {},
    {{"json", "", "for programs"}, {"python", "P", "the Python of the jobs; default: python3"}},
    "Exit code: 0 when ranks can be run on the CPU, else 4."};

int doctor(const Arguments& arguments) {
  DoctorOptions options;
  options.program_folder = std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
  if (arguments.has("python")) {
    options.python = arguments.at("python");
  }
  const DoctorReport report = collect(options);
  std::fputs((arguments.has("json") ? render_json(report) : render_text(report)).c_str(), stdout);
  return report.exit_code();
}

}  // namespace

int doctor_command(const Words& words) { return run_parsed(kDoctor, words, doctor); }

}  // namespace prism::cli
