// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "core/base/program.hpp"
#include "core/cli/plugin_commands.hpp"
#include "core/cli/plugin_project.hpp"
#include "core/cli/shell_word.hpp"
#include "core/config/suggest.hpp"

namespace prism::cli {
namespace {

const Usage kNew{
    "prism plugin new",
    "KIND NAME [options]",
    "Writes a plugin project that builds, passes its tests and does something, to start from.\n"
    "KIND: router, tensor_source or format (in C++ only). NAME: a-z, 0-9, '-' and '_'; my-router "
    "gets the id my_router.",
    {"KIND", "NAME"},
    {{"lang", "L", "cpp (default) or c"},
     {"dir", "D", "where; default: a new folder NAME"},
     {"license", "SPDX", "its license; default: Apache-2.0"}},
    "Needs no network. The project needs CMake and a compiler."};

/// `word`, if it is one of `choices`.
Status check_choice(const std::string& what, const std::string& word,
                    const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), word) != choices.end()) {
    return {};
  }
  const std::vector<std::string_view> views(choices.begin(), choices.end());
  const std::string hint = config::suggestion(word, views);
  return config_error("there is no template for " + what + " '" + word + "'" +
                      (hint.empty() ? "" : "; " + hint));
}

/// An SPDX expression goes into files as it is.
Status check_license(const std::string& license) {
  constexpr size_t kMaxLicense = 100;
  const bool good = !license.empty() && license.size() <= kMaxLicense &&
                    std::all_of(license.begin(), license.end(), [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' ||
                             c == ' ' || c == '(' || c == ')';
                    });
  return good ? Status()
              : config_error("--license takes an SPDX expression of at most " +
                             std::to_string(kMaxLicense) +
                             " letters, digits, '.', '-', '+' and parentheses, such as MIT");
}

Status create(const Arguments& arguments) {
  const auto given = [&](const std::string& flag, const std::string& otherwise) {
    return arguments.has(flag) ? arguments.at(flag) : otherwise;
  };
  PluginProject project;
  project.kind = arguments.at("KIND");
  project.name = arguments.at("NAME");
  project.language = given("lang", "cpp");
  project.license = given("license", "Apache-2.0");
  project.folder = given("dir", project.name);
  PRISM_TRY_ASSIGN(const std::string id, plugin_id_of(project.name));
  PRISM_TRY(check_license(project.license));
  PRISM_TRY_ASSIGN(const std::string templates, template_folder());
  PRISM_TRY(check_choice("the kind", project.kind, template_kinds(templates)));
  PRISM_TRY(check_choice(project.kind + " plugins in the language", project.language,
                         template_languages(templates, project.kind)));
  if (project.folder.empty()) {
    return config_error("--dir must not be empty");
  }
  PRISM_TRY(write_project(templates, project));

  std::printf(
      "The %s plugin '%s' is in %s.\n\nnext:\n"
      "  cd %s\n"
      "  cmake --preset release -Dprism_ROOT=%s\n"
      "  cmake --build --preset release\n"
      "  ctest --preset release\n"
      "  %s plugin check build/release/%s/%s\n",
      project.kind.c_str(), id.c_str(), project.folder.c_str(), shell_word(project.folder).c_str(),
      shell_word(program_prefix()).c_str(), shell_word(program_file()).c_str(),
      "lib/" PRISM_PLUGIN_SUBDIR, id.c_str());
  return {};
}

int run_new(const Arguments& arguments) {
  const Status status = create(arguments);
  return status.ok() ? 0 : report_error(status);
}

}  // namespace

Subcommand plugin_new_command() {
  return {&kNew, run_new};
}

}  // namespace prism::cli
