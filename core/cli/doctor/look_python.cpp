// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/cli/doctor/child.hpp"
#include "core/cli/doctor/look.hpp"

namespace prism::cli {
namespace {

constexpr const char* kIds[] = {"torch", "local"};  // without these nothing runs

// Asks the metadata of packages: importing torch takes seconds, and may be what is broken.
constexpr const char* kQuestions = R"(
import importlib.metadata as metadata, re, sys
print("python=%d.%d.%d" % sys.version_info[:3])
print("path=" + sys.executable)
try:
    torch = metadata.distribution("torch")
except metadata.PackageNotFoundError:
    sys.exit()
version = torch.version
try:
    text = open(torch.locate_file("torch/version.py")).read()
    version = re.search(r"^__version__ = '([^']+)'", text, re.M).group(1)
except (OSError, AttributeError):
    pass
print("torch=" + version)
for package in metadata.distributions():
    if (package.metadata["Name"] or "").startswith("nvidia-nccl-"):
        for file in package.files or ():
            if file.name == "libnccl.so.2":
                print("nccl=" + str(package.locate_file(file)))
)";

/// The minors of torch that there are agents for, as "2.11": libprism_agent_torch211.so.
std::vector<std::string> agent_minors(const DoctorOptions& options) {
  constexpr std::string_view kStart = "libprism_agent_torch";
  std::vector<std::string> minors;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(plugin_folder(options) + "/torch", error)) {
    const std::string stem = entry.path().stem().string();
    if (stem.starts_with(kStart) && entry.path().extension() == ".so") {
      const std::string digits = stem.substr(kStart.size());
      minors.push_back(digits.substr(0, 1) + "." +
                       digits.substr(std::min<size_t>(1, digits.size())));
    }
  }
  std::sort(minors.begin(), minors.end());
  return minors;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

Fact agent_fact(const DoctorOptions& options, const std::string& torch) {
  const std::string minor = torch.substr(0, torch.find('.', torch.find('.') + 1));
  const std::vector<std::string> minors = agent_minors(options);
  Fact fact{.id = "python.agent"};
  if (std::find(minors.begin(), minors.end(), minor) != minors.end()) {
    fact.text = "for torch " + joined(minors);
    return fact;
  }
  fact.state = State::Needed;
  fact.text = minors.empty() ? "none" : "for torch " + joined(minors) + ", not for " + minor;
  fact.consequence = "no rank can be intercepted: ";
  fact.consequence += minors.empty()
                          ? "build Prism where torch " + minor + " is installed"
                          : "install torch " + minors.back() + ", or build Prism where torch " +
                                minor + " is installed";
  return fact;
}

}  // namespace

std::string plugin_folder(const DoctorOptions& options) {
  return (std::filesystem::path(options.program_folder) / "../lib/prism/plugins/abi-1")
      .lexically_normal()
      .string();
}

void look_at_plugins(const DoctorOptions& options, Facts& facts) {
  const std::string folder = plugin_folder(options);
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    std::error_code ignored;
    if (std::filesystem::exists(entry.path() / "plugin.toml", ignored)) {
      found.push_back(entry.path().filename().string());
    }
  }
  std::sort(found.begin(), found.end());
  Fact fact{.id = "prism.plugins",
            .text = (found.empty() ? std::string("none") : joined(found)) + " in " + folder,
            .number = found.size()};
  std::vector<std::string> missing;
  for (const char* id : kIds) {
    if (std::find(found.begin(), found.end(), id) == found.end()) {
      missing.emplace_back(id);
    }
  }
  if (!missing.empty()) {
    fact.state = State::Needed;
    fact.consequence = "without " + joined(missing) +
                       " no rank can be started; build or install them beside prism";
  }
  facts.push_back(fact);
}

std::string look_at_python(const DoctorOptions& options, Facts& facts) {
  const ChildResult answer = run_program({options.python, "-c", kQuestions}, options.timeout);
  const std::string python = line_value(answer.output, "python", '=');
  if (!answer.ok || python.empty()) {
    facts.push_back({.id = "python.version",
                     .state = State::Needed,
                     .text = "'" + options.python +
                             "' cannot be used: " + (answer.ok ? "it is no Python" : answer.ending),
                     .consequence =
                         "no training script can be run; install Python 3 with torch, or "
                         "activate the environment that has them"});
    return {};
  }
  facts.push_back(
      {.id = "python.version", .text = python + ", " + line_value(answer.output, "path", '=')});
  const std::string torch = line_value(answer.output, "torch", '=');
  if (torch.empty()) {
    facts.push_back({.id = "python.torch",
                     .state = State::Needed,
                     .text = "not installed for this Python",
                     .consequence = "no training script can be run; install torch, or activate the "
                                    "environment that has it"});
    return {};
  }
  facts.push_back({.id = "python.torch", .text = torch});
  facts.push_back(agent_fact(options, torch));
  return line_value(answer.output, "nccl", '=');
}

}  // namespace prism::cli
