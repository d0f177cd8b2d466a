// SPDX-License-Identifier: Apache-2.0
/// Plugin projects from templates. A template is a project whose names are placeholders:
/// template-name, template_id, TemplateClass, template_kind and the license Apache-2.0; "dot-x" is
/// the file ".x". What is written is that of templates/common and of templates/KIND/LANG.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"

namespace prism::cli {

struct PluginProject {
  std::string kind;      ///< "router"
  std::string language;  ///< "cpp", "c"
  std::string name;      ///< "my-router"
  std::string license;   ///< SPDX
  std::string folder;    ///< where it is written
};

/// The id of a plugin that is named so: '-' becomes '_'. Errors (Domain::Config): a name that a
/// plugin cannot have, or that is taken.
Result<std::string> plugin_id_of(std::string_view name);

/// The folder of the templates, in the build tree or where Prism is installed. Errors
/// (Domain::Environment): there is none.
Result<std::string> template_folder();

/// The kinds, and the languages of a kind, for which there is a template.
std::vector<std::string> template_kinds(const std::string& templates);
std::vector<std::string> template_languages(const std::string& templates, const std::string& kind);

/// Writes the project. Errors: `folder` is not empty or cannot be written (Domain::Config); nothing
/// is left there then.
Status write_project(const std::string& templates, const PluginProject& project);

}  // namespace prism::cli
